import { verifyApiKey } from "../../tenants/api-keys.ts";
import type { Handler, HandlerContext } from "../handler-context.ts";
import type { Reply } from "../reply.ts";
import { errorReply } from "./error-reply.ts";

/** The header `apiKey`, in any case, without the white space around it; empty where there is none. */
export function apiKeyOf({ request }: Pick<HandlerContext, "request">): string {
  return (request.headers.get("apiKey") ?? "").trim();
}

/**
 * Whether a request brings a key of its tenant's along. A header that is there twice arrives as one text, which is no
 * key.
 *
 * @returns the refusal, the same whatever is wrong with it; null for a key that opens
 */
export async function rejectWithoutApiKey(context: HandlerContext): Promise<Reply | null> {
  const { runtime, tenant } = context;
  const found = await verifyApiKey(runtime, { interface: "passkeys", tenant }, apiKeyOf(context));
  if (found) return null;
  return errorReply(401, "The api key is invalid", "api keys needs to be an apiKey Header and 32 byte long");
}

/** A handler that only applications with a key may ask: that is judged before anything they send is read. */
export function requireApiKey(handler: Handler): Handler {
  return async (context) => (await rejectWithoutApiKey(context)) ?? handler(context);
}

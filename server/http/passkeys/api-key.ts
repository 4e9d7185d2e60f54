import { recordRejectedKey, verifyApiKey } from "../../tenants/api-keys.ts";
import type { Reply } from "../answer/reply.ts";
import type { Handler, HandlerContext } from "../table/handler-context.ts";
import { errorReply } from "./error-reply.ts";

/** Returns the header `apiKey`, trimmed; empty if it is absent. */
export function apiKeyOf({ request }: Pick<HandlerContext, "request">): string {
  return (request.headers.get("apiKey") ?? "").trim();
}

/**
 * Requires a valid API key of the tenant. A header sent twice arrives joined, and is not a valid key.
 *
 * @returns null for a valid key; else the error, which does not depend on the cause
 */
export async function rejectWithoutApiKey(context: HandlerContext): Promise<Reply | null> {
  const { runtime, tenant } = context;
  const verdict = await verifyApiKey(runtime, { interface: "passkeys", tenant }, apiKeyOf(context));
  if (verdict.ok) return null;
  await recordRejectedKey(context, "passkeys", verdict.reason);
  return errorReply(401, "The api key is invalid", "api keys needs to be an apiKey Header and 32 byte long");
}

/** Wraps a handler so that it requires an API key, which is verified before the body is read. */
export function requireApiKey(handler: Handler): Handler {
  return async (context) => (await rejectWithoutApiKey(context)) ?? handler(context);
}

import { isDeviceToken, isShowingToken } from "../../authenticator/request-tokens.ts";
import type { AuthenticatorRequest } from "../../authenticator/requests.ts";
import { findRequest } from "../../authenticator/requests.ts";
import { verifyApiKey } from "../../tenants/api-keys.ts";
import type { HandlerContext } from "../handler-context.ts";
import type { Reply } from "../reply.ts";
import { authenticatorError } from "./error.ts";

/**
 * Who calls: the application by its key, the phone by the token in the QR code, the page that waits by its own, or
 * whoever loads the picture.
 */
export type Caller = "application" | "phone" | "page" | "picture";

/** What a request presents: a key or the phone's token in the header, or a token that only shows in the address. */
type Presented = { key: string } | { device: string } | { token: string };

/**
 * Reads `Authorization: secret <key>`, `Bearer <key>` or `device <token>`: the word in any case, one space, and nothing
 * else. Two headers come here as one with a comma, which no key holds. Only where there is no such header does `token`
 * in the address count, once; keys never stand there.
 *
 * @returns null for anything else
 */
function presented({ request, url }: HandlerContext): Presented | null {
  const header = request.headers.get("authorization");
  if (header !== null) {
    const [, scheme, value = ""] = /^(secret|bearer|device) ([\w.~+/=-]{1,512})$/i.exec(header) ?? [];
    if (scheme === undefined) return null;
    return scheme.toLowerCase() === "device" ? { device: value } : { key: value };
  }
  const [token, ...others] = url.searchParams.getAll("token");
  return token && others.length === 0 ? { token } : null;
}

function unauthorized(): Reply {
  return authenticatorError(401, "A valid API key is needed: Authorization: secret <key>.", {
    "WWW-Authenticate": 'secret realm="authenticator", Bearer realm="authenticator"',
  });
}

/** @returns a rejection, or null for an application with a key of this tenant and interface */
export async function rejectWithoutKey(context: HandlerContext): Promise<Reply | null> {
  const shown = presented(context);
  return shown && "key" in shown && (await isKey(context, shown.key)) ? null : unauthorized();
}

async function isKey({ runtime, tenant }: HandlerContext, key: string): Promise<boolean> {
  return (await verifyApiKey(runtime, { interface: "authenticator", tenant }, key)) !== null;
}

export type Admitted =
  | { caller: Caller; request: AuthenticatorRequest; now: Date }
  /** To whoever may not know, a request that is not there looks like one that is. */
  | { rejection: Reply };

/**
 * Finds the request that an address names, for those who may.
 *
 * @param also who is let in beside applications
 */
export async function admit(
  context: HandlerContext,
  ...also: Exclude<Caller, "application">[]
): Promise<Admitted> {
  const { runtime, tenant, params } = context;
  const shown = presented(context);
  if (!shown) return { rejection: unauthorized() };
  const isApplication = "key" in shown && (await isKey(context, shown.key));
  if ("key" in shown && !isApplication) return { rejection: unauthorized() };
  const found = await findRequest(runtime, tenant, params.id ?? "");
  if (isApplication) {
    return found ? { caller: "application", ...found } : { rejection: unknownRequest() };
  }
  const caller = found && also.find((one) => may(one, context, shown, found.request));
  return caller ? { caller, ...found } : { rejection: unauthorized() };
}

/** Whether a token is the one for this caller and this request. */
function may(
  caller: Exclude<Caller, "application">,
  { runtime, tenant }: HandlerContext,
  shown: Presented,
  { id, deviceTokenHash }: AuthenticatorRequest,
): boolean {
  if ("device" in shown) return caller === "phone" && isDeviceToken(shown.device, deviceTokenHash);
  if (!("token" in shown)) return false;
  // The phone's own may answer: it stands in the header, where no log has it.
  if (caller === "phone") return false;
  return isShowingToken(runtime, caller === "page" ? "view" : "picture", { tenant, id }, shown.token);
}

export function unknownRequest(): Reply {
  return authenticatorError(404, "Not Found.");
}

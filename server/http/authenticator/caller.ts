import { assertJudgeable, isDeviceToken, isViewToken } from "../../authenticator/request-tokens.ts";
import { type AuthenticatorRequest, findRequest } from "../../authenticator/requests.ts";
import { recordRejectedKey, verifyApiKey } from "../../tenants/api-keys.ts";
import type { Reply } from "../answer/reply.ts";
import type { Handler, HandlerContext } from "../table/handler-context.ts";
import { authenticatorError } from "./error.ts";

/**
 * The kind of caller: the application by its API key, the authenticator by the token of the QR code, the waiting page and
 * the picture by derived tokens.
 */
export type Caller = "application" | "authenticator" | "page" | "picture";

/** The credential of a call: an API key or a device token in the header, or a read-only token in the query. */
type PresentedCredential = { key: string } | { device: string } | { token: string };

/**
 * Reads `Authorization: secret <key>`, `Bearer <key>` or `device <token>`: the scheme is case-insensitive. Node joins
 * repeated headers with a comma, which keys do not contain. Without the header, a single `token` in the query counts;
 * keys are not accepted there.
 *
 * @returns null for anything else
 */
function readCredential({ request, url }: HandlerContext): PresentedCredential | null {
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

/** Wraps a handler so that it requires an API key of this tenant and interface. */
export function requireKey(handler: Handler): Handler {
  return async (context) => {
    const shown = readCredential(context);
    const isAuthorized = shown && "key" in shown && (await isKey(context, shown.key));
    return isAuthorized ? handler(context) : unauthorized();
  };
}

async function isKey(context: HandlerContext, key: string): Promise<boolean> {
  const { runtime, tenant } = context;
  const verdict = await verifyApiKey(runtime, { interface: "authenticator", tenant }, key);
  if (!verdict.ok) await recordRejectedKey(context, "authenticator", verdict.reason);
  return verdict.ok;
}

/** An authorized caller, and the request of the address. `now`: the time by the database's clock. */
export interface Admitted {
  caller: Caller;
  request: AuthenticatorRequest;
  now: Date;
}

/**
 * Makes a handler that runs for authorized callers of a request.
 *
 * @param also accepted callers beside applications
 */
export function requireCaller(
  also: readonly Exclude<Caller, "application">[],
  handler: (context: HandlerContext, admitted: Admitted) => ReturnType<Handler>,
): Handler {
  return async (context) => {
    const admitted = await authorizeCaller(context, also);
    return "caller" in admitted ? handler(context, admitted) : admitted;
  };
}

/** An unauthorized caller cannot distinguish an unknown request from an existing one. */
async function authorizeCaller(
  context: HandlerContext,
  also: readonly Exclude<Caller, "application">[],
): Promise<Admitted | Reply> {
  const { runtime, tenant, params } = context;
  const shown = readCredential(context);
  if (!shown) return unauthorized();
  const isApplication = "key" in shown && (await isKey(context, shown.key));
  if ("key" in shown && !isApplication) return unauthorized();
  const found = await findRequest(runtime, tenant, params.id ?? "");
  if (isApplication) return found ? { caller: "application", ...found } : notFound();
  const caller = found && also.find((one) => isAuthorized(one, context, shown, found.request));
  return caller ? { caller, ...found } : unauthorized();
}

/** Whether the credential is that of this caller and this request. */
function isAuthorized(
  caller: Exclude<Caller, "application">,
  { runtime, tenant }: HandlerContext,
  shown: PresentedCredential,
  { id, deviceTokenHash, sealedDeviceToken }: AuthenticatorRequest,
): boolean {
  if ("device" in shown) return caller === "authenticator" && isDeviceToken(shown.device, deviceTokenHash);
  if (!("token" in shown)) return false;
  // A device token authorizes the answer and is accepted in the header alone, which is not logged.
  if (caller === "authenticator") return false;
  if (isViewToken(runtime, caller === "page" ? "view" : "picture", { tenant, id }, shown.token)) return true;
  assertJudgeable(runtime, sealedDeviceToken);
  return false;
}

export function notFound(): Reply {
  return authenticatorError(404, "Not Found.");
}

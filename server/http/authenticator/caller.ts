import { assertJudgeable, isDeviceToken, isViewToken } from "../../authenticator/request-tokens.ts";
import type { AuthenticatorRequest } from "../../authenticator/requests.ts";
import { findRequest } from "../../authenticator/requests.ts";
import { recordRejectedKey, verifyApiKey } from "../../tenants/api-keys.ts";
import type { Reply } from "../answer/reply.ts";
import type { HandlerContext } from "../table/handler-context.ts";
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

/** @returns null if the call has a valid API key of this tenant and interface */
export async function rejectWithoutKey(context: HandlerContext): Promise<Reply | null> {
  const shown = readCredential(context);
  return shown && "key" in shown && (await isKey(context, shown.key)) ? null : unauthorized();
}

async function isKey(context: HandlerContext, key: string): Promise<boolean> {
  const { runtime, tenant } = context;
  const verdict = await verifyApiKey(runtime, { interface: "authenticator", tenant }, key);
  if (!verdict.ok) await recordRejectedKey(context, "authenticator", verdict.reason);
  return verdict.ok;
}

export type CallerResult =
  | { ok: true; caller: Caller; request: AuthenticatorRequest; now: Date }
  /** An unauthorized caller cannot distinguish an unknown request from an existing one. */
  | { ok: false; reason: "unauthorized" | "not_found"; reply: Reply };

const rejectUnauthorized = (): CallerResult => ({ ok: false, reason: "unauthorized", reply: unauthorized() });

/**
 * Finds the request of the address, and authorizes the caller for it.
 *
 * @param also accepted callers beside applications
 */
export async function authorizeCaller(
  context: HandlerContext,
  ...also: Exclude<Caller, "application">[]
): Promise<CallerResult> {
  const { runtime, tenant, params } = context;
  const shown = readCredential(context);
  if (!shown) return rejectUnauthorized();
  const isApplication = "key" in shown && (await isKey(context, shown.key));
  if ("key" in shown && !isApplication) return rejectUnauthorized();
  const found = await findRequest(runtime, tenant, params.id ?? "");
  if (isApplication) {
    if (found) return { ok: true, caller: "application", ...found };
    return { ok: false, reason: "not_found", reply: unknownRequest() };
  }
  const caller = found && also.find((one) => isAuthorized(one, context, shown, found.request));
  return caller ? { ok: true, caller, ...found } : rejectUnauthorized();
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

export function unknownRequest(): Reply {
  return authenticatorError(404, "Not Found.");
}

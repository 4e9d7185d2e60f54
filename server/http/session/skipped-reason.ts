import { type Item, parseList, Token } from "structured-headers";
import { type BindingRejection, bindingRejections } from "../../failures/device-binding.ts";
import type { ApiRequest } from "../request/api-request.ts";

/**
 * Why a browser says that it has not renewed the cookie of a session: `Secure-Session-Skipped` (DBSC, 9.5); null if it says
 * nothing of that session. It is for the audit log alone: the holder of a stolen cookie can send that header too.
 */
export function skippedReason(
  { headers }: Pick<ApiRequest, "headers">,
  sessionId: string,
): BindingRejection | null {
  const header = headers.get("secure-session-skipped");
  if (header === null) return null;
  try {
    const ofSession = ([value, parameters]: Item) =>
      value instanceof Token && parameters.get("session_identifier") === sessionId;
    const entry = (parseList(header) as Item[]).find(ofSession);
    const reason = String(entry?.[0] ?? "");
    return isReason(reason) ? reason : null;
  } catch {
    return null;
  }
}

const isReason = (reason: string): reason is BindingRejection => Object.hasOwn(bindingRejections, reason);

import type { RequestHeaders } from "./api-request.ts";

/** Who asks, by the `Accept` header (RFC 9110, 12.5.1): browsers name HTML when a person navigates; programs do not. */

/** Whether the answer is displayed to a person. */
export function wantsPage(headers: RequestHeaders): boolean {
  return /\btext\/html\b/i.test(headers.get("accept") ?? "");
}

/** Whether a program asks that expects JSON. */
export function wantsJson(headers: RequestHeaders): boolean {
  return /\bapplication\/(?:[\w.-]+\+)?json\b/i.test(headers.get("accept") ?? "") && !wantsPage(headers);
}

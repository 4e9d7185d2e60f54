import { withError } from "../thirdparty/redirect-urls.ts";
import type { FlowData } from "./data.ts";
import { type ErrorCode, errors, isInputError } from "./errors.ts";
import { type Outcome, reject } from "./outcome.ts";

/**
 * Rejects with a `redirect_url` to the page that started the redirect. Published clients follow it; the URL of the
 * provider was valid only once.
 */
export function rejectWithRedirect<Code extends ErrorCode>(
  { returnTo }: FlowData,
  code: Code,
  details: Parameters<typeof reject>[1] = {},
): Outcome<never, Code> {
  if (!returnTo) return reject(code, details);
  const publicCode = isInputError(code) ? "invalid_request" : code;
  const redirect_url = withError(new URL(returnTo), publicCode, errors[code].message);
  return reject(code, { ...details, payload: { ...details.payload, redirect_url } });
}

import type { ParsedIdentifier } from "../identifier.ts";

const MAX_INPUT_CHARACTERS = 1024;

export type UsernameError = "value_too_short_error" | "value_too_long_error" | "invalid_username_error";

/**
 * Converts a username to the canonical form that is stored and compared: trimmed, NFKC, lower case. Accepts only `a` to
 * `z`, digits and the underscore, so that look-alike letters of other alphabets cannot imitate a name.
 *
 * @param input as entered by the user
 * @param limits in characters of the canonical form, inclusive
 * @returns the canonical form, or the error code
 */
export function parseUsername(
  input: string,
  limits: { min_length: number; max_length: number },
): ParsedIdentifier<UsernameError> {
  // Bounds the work of normalization.
  if (input.length > MAX_INPUT_CHARACTERS) return { ok: false, reason: "value_too_long_error" };
  const username = input.trim().normalize("NFKC").toLowerCase();
  const characters = [...username].length;
  if (characters < limits.min_length) return { ok: false, reason: "value_too_short_error" };
  if (characters > limits.max_length) return { ok: false, reason: "value_too_long_error" };
  return /^\w+$/.test(username)
    ? { ok: true, value: username }
    : { ok: false, reason: "invalid_username_error" };
}

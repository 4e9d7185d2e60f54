export type UsernameError = "value_too_short_error" | "value_too_long_error" | "invalid_username_error";

/**
 * Brings a username into the one form in which it is stored and compared: trimmed, compatibility forms resolved
 * (NFKC), lower case. Only `a` to `z`, digits and the underscore make a name, so no two names look alike but for
 * signs of one alphabet.
 *
 * @param input what was typed
 * @param limits fewest and most characters, both allowed
 * @returns the canonical form, or the error code of what is wrong with it
 */
export function parseUsername(
  input: string,
  limits: { min_length: number; max_length: number },
): { ok: true; username: string } | { ok: false; code: UsernameError } {
  // Whatever is this long before trimming is not read any further.
  if (input.length > 1024) return { ok: false, code: "value_too_long_error" };
  const username = input.trim().normalize("NFKC").toLowerCase();
  const characters = [...username].length;
  if (characters < limits.min_length) return { ok: false, code: "value_too_short_error" };
  if (characters > limits.max_length) return { ok: false, code: "value_too_long_error" };
  return /^\w+$/.test(username) ? { ok: true, username } : { ok: false, code: "invalid_username_error" };
}

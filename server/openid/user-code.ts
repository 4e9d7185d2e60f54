/** Codes that devices show their users (RFC 8628, 6.1): eight letters without vowels. */

/** More characters than a code with any separators has. */
export const MAX_USER_CODE_CHARACTERS = 32;

/** What an address says of a code, as far as it can be one: it fills a field. */
export const userCodeText = (text: string): string =>
  text.replace(/[^A-Za-z0-9 -]/g, "").slice(0, MAX_USER_CODE_CHARACTERS);

/** The letters of a code, in any case and with any separators; null if it is no code. */
export function userCodeIn(text: string): string | null {
  const letters = text.toUpperCase().replace(/[^A-Z0-9]/g, "");
  return /^[BCDFGHJKLMNPQRSTVWXZ]{8}$/.test(letters) ? letters : null;
}

/** A code as the device shows it. */
export const shownUserCode = (letters: string): string => `${letters.slice(0, 4)}-${letters.slice(4)}`;

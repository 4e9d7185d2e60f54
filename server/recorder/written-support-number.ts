/** How a support number is written: what a user reads from a page, and what an operator types. */

/** Consonants that are not taken for each other, nor for a digit: no word can come of them. One for each hexadecimal digit. */
export const supportLetters = "BCDFGHJKMNPRTVWX";

/** Letters of one number. */
export const SUPPORT_NUMBER_LENGTH = 8;

const supportNumberPattern = new RegExp(`^[${supportLetters}]{${SUPPORT_NUMBER_LENGTH}}$`);

/** Reads a support number in the groups or the case that a user has written it in; null if the text is none. */
export function parseSupportNumber(text: string): string | null {
  const written = text.replace(/[\s-]/g, "").toUpperCase();
  return supportNumberPattern.test(written) ? written : null;
}

/** Writes a support number in two groups. */
export function inGroups(number: string): string {
  return `${number.slice(0, SUPPORT_NUMBER_LENGTH / 2)} ${number.slice(SUPPORT_NUMBER_LENGTH / 2)}`;
}

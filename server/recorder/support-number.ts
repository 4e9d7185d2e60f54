import { sha256 } from "../lib/sha256.ts";

/** Consonants that are not taken for each other, nor for a digit: no word can come of them. */
const letters = "BCDFGHJKMNPRTVWX";

const CHARACTERS = 8;

/**
 * Returns the number by which a user tells an operator of a flow: eight letters. It is a digest of the flow's id, so nothing
 * of the flow can be derived from it, and two flows among some thousand millions may share one.
 */
export function supportNumber(flowId: string): string {
  const digest = sha256(`support number of ${flowId}`).toString("hex").slice(0, CHARACTERS);
  return [...digest].map((digit) => letters[Number.parseInt(digit, 16)]).join("");
}

/** Reads a support number in the groups or the case that a user has written it in; null if the text is none. */
export function parseSupportNumber(text: string): string | null {
  const written = text.replace(/[\s-]/g, "").toUpperCase();
  return new RegExp(`^[${letters}]{${CHARACTERS}}$`).test(written) ? written : null;
}

/** Writes a support number in two groups. */
export function inGroups(number: string): string {
  return `${number.slice(0, CHARACTERS / 2)} ${number.slice(CHARACTERS / 2)}`;
}

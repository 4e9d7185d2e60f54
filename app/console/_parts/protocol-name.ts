import { flow } from "#words/en/flow";
import { words } from "../_words.ts";

/** Names of the protocol as operators read them. */

/** Writes a name of a state, an action or a method as words: `login_password` as "Login password". */
export function spoken(name: string): string {
  const text = name.replaceAll("_", " ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Writes the cause of a failure as words. */
export const causeName = (cause: string): string =>
  words.causeNames[cause as keyof typeof words.causeNames] ?? spoken(cause);

type Texts = Partial<Record<string, string>>;

/**
 * Returns what a user is told of an error, in English; null where the text depends on the case.
 *
 * @param inputs the names of those that were sent, which may have texts of their own
 */
export function errorText(code: string, inputs: readonly string[] = []): string | null {
  const worded: Partial<Record<string, { errors?: Texts }>> = flow.inputs;
  const own = inputs.map((name) => worded[name]?.errors?.[code]).find((text) => text !== undefined);
  const text = own ?? (flow.errors as Texts)[code];
  return text === undefined || text.includes("{") ? null : text;
}

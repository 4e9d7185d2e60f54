import { flow } from "#words/en/flow";

/** Names of the protocol as operators read them. */

/** Writes a name of a state, an action or a method as words: `login_password` as "Login password". */
export function spoken(name: string): string {
  const text = name.replaceAll("_", " ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Returns what a user is told of an error, in English; null where the text depends on the case. */
export function errorText(code: string): string | null {
  const text = (flow.errors as Partial<Record<string, string>>)[code];
  return text === undefined || text.includes("{") ? null : text;
}

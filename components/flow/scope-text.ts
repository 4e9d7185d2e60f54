import type { FlowWords } from "#words/flow";
import { isText, recordOf } from "./payload-readers.ts";

/**
 * What an application may know by a scope: the page's words, or those of the operator; for an unknown scope, its name.
 *
 * @param texts of the operator, by scope and language
 */
export function scopeText(
  { authorization: { scopes } }: FlowWords,
  scope: string,
  texts: unknown,
  language: string,
): string {
  if (Object.hasOwn(scopes, scope)) return scopes[scope as keyof typeof scopes];
  return operatorText(texts, scope, language) ?? scope;
}

/** The operator's text of a scope, in the language of the page, else in English, else in any. */
export function operatorText(texts: unknown, scope: string, language: string): string | undefined {
  const ofScope = recordOf(texts);
  const known = Object.hasOwn(ofScope, scope) ? recordOf(ofScope[scope]) : {};
  return [known[language], known.en, ...Object.values(known)].find(isText);
}

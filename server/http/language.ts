import { type Language, languageTags } from "#words/language-tags";
import { translatedTags } from "#words/translations";
import { acceptedLanguageTags } from "../lib/accept-language.ts";
import { matchLanguage } from "../lib/match-language.ts";

/** The cookie with the language that a visitor chose on a page. */
export const LANGUAGE_COOKIE = "stile-language";

const byName = new Map<string, Language>(languageTags.map((language) => [language.toLowerCase(), language]));

/**
 * The language of mails by `X-Language`. Unknown values mean English, including `undefined`, which a published client
 * sends if no language is set.
 */
export function languageOf(header: string | null): Language {
  return byName.get(header?.toLowerCase() ?? "") ?? "en";
}

/** The language of mails that an `Accept-Language` header prefers (RFC 9110, 12.5.4); English if it names none. */
export function acceptedLanguage(header: string | null): Language {
  return matchLanguage(acceptedLanguageTags(header), languageTags) ?? "en";
}

/**
 * The language of a page, among those with words: the one that the visitor chose, else the one that the browser prefers,
 * else English.
 */
export function pageLanguage(chosen: string | null, acceptLanguage: string | null): Language {
  return matchLanguage([chosen ?? "", ...acceptedLanguageTags(acceptLanguage)], translatedTags) ?? "en";
}

import { de } from "./de/index.ts";
import { en } from "./en/index.ts";
import type { LanguageWords } from "./language-words.ts";

/**
 * One row per language that `X-Language` may name, by BCP 47 tag. `null` where there are no words: such a language
 * falls back to English. Pages offer the languages with words, in this order.
 */
export const languages = {
  en,
  de,
  bn: null,
  fr: null,
  it: null,
  nl: null,
  "pt-BR": null,
  zh: null,
} satisfies Record<string, LanguageWords | null>;

export type Language = keyof typeof languages;

const rows: Record<Language, LanguageWords | null> = languages;

export const languageTags = Object.keys(languages) as Language[];

/** The tags of the languages that have words. */
export const translatedTags = languageTags.filter((tag) => rows[tag] !== null);

/** The words of a language and the language they are in: English where the language asked for has none. */
export function wordsIn(asked: Language): { language: Language; words: LanguageWords } {
  const words = rows[asked];
  return words ? { language: asked, words } : { language: "en", words: en };
}

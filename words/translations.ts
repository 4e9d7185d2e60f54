import { de } from "./de/index.ts";
import { en } from "./en/index.ts";
import { type Language, languageTags } from "./language-tags.ts";
import type { LanguageWords } from "./language-words.ts";

/** One row per language: its words, or `null` for a language that falls back to English. */
export const translations = {
  en,
  de,
  bn: null,
  fr: null,
  it: null,
  nl: null,
  "pt-BR": null,
  zh: null,
} satisfies Record<Language, LanguageWords | null>;

const rows: Record<Language, LanguageWords | null> = translations;

/** The languages that have words. */
export const translatedTags = languageTags.filter((tag) => rows[tag] !== null);

/** The words of a language and the language they are in: English where the requested language has none. */
export function wordsIn(tag: Language): { language: Language; words: LanguageWords } {
  const words = rows[tag];
  return words ? { language: tag, words } : { language: "en", words: en };
}

import type { Language } from "../../lib/languages.ts";
import { de } from "./de.ts";
import { en } from "./en.ts";
import type { MailWords } from "./words.ts";

/** The languages that mails have words for. A language joins with its file and its line here. */
const translations: Partial<Record<Language, MailWords>> = { de, en };

/** The words of a language, or English where there are none yet, and the language they are in. */
export function mailWords(asked: Language): { language: Language; words: MailWords } {
  const words = translations[asked];
  return words ? { language: asked, words } : { language: "en", words: en };
}

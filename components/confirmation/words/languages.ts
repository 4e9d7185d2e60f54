import { de } from "./de.ts";
import { en } from "./en.ts";
import type { ConfirmationWords } from "./words.ts";

/** By the tag of the page's language; a language that the login page has is one row here too. */
const byLanguage: Record<string, ConfirmationWords> = { en, de };

/** @param language of the page, as `chooseWords` chose it */
export function confirmationWords(language: string): ConfirmationWords {
  return byLanguage[language] ?? en;
}

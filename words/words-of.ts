import { isPseudoTag, type Language, type PageLanguage } from "./language-tags.ts";
import type { LanguageWords } from "./language-words.ts";
import { type OwnWords, withOwnTexts } from "./own-texts.ts";
import { pseudoWords } from "./pseudo-words.ts";
import { translations } from "./translations.ts";

const tailored = new WeakMap<OwnWords, Map<Language, LanguageWords>>();

/**
 * All words of a language as a tenant says them. Prepared once for each configuration.
 *
 * @param own the tenant's own texts (`config.words`)
 */
export function wordsOf(language: PageLanguage, own: OwnWords): LanguageWords {
  if (isPseudoTag(language)) return pseudoWords[language];
  const texts = own[language];
  if (!texts) return translations[language];
  const known = tailored.get(own)?.get(language);
  if (known) return known;
  const made = withOwnTexts(translations[language], texts);
  tailored.set(own, (tailored.get(own) ?? new Map()).set(language, made));
  return made;
}

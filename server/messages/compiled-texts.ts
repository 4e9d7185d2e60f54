import { createTranslator } from "use-intl/core";
import type { PageLanguage } from "#words/language-tags";
import type { MailWords } from "#words/mail";
import type { SmsWords } from "#words/sms";

export type Translator<Words extends MailWords | SmsWords> = ReturnType<typeof createTranslator<Words>>;

/** Each translator keeps the texts that it has compiled. It lives as long as its texts: those of a tenant as its settings. */
const translators = new WeakMap<object, unknown>();

/**
 * Returns the function that fills in the texts of messages, each compiled at its first use: ours once for all tenants,
 * those of a tenant once for its settings.
 *
 * @param words all texts, from `wordsOf`, which gives the same object for the same texts
 * @throws an error of use-intl, in the returned function, if a text cannot be read or a value is missing
 */
export function translatorOf<Words extends MailWords | SmsWords>(
  language: PageLanguage,
  words: Words,
): Translator<Words> {
  const known = translators.get(words) as Translator<Words> | undefined;
  if (known) return known;
  const made = createTranslator<Words>({
    locale: language,
    messages: words,
    onError(error) {
      throw error;
    },
  } as Parameters<typeof createTranslator<Words>>[0]);
  translators.set(words, made);
  return made;
}

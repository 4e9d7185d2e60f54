import type { AccountWords, FlowWords } from "#words/flow";
import type { Language } from "#words/language-tags";
import { withAccount } from "#words/with-account";

/** The words of the account page in each language, in a file of its own. */
const files: Record<Language, () => Promise<{ account: AccountWords }>> = {
  bn: () => import("#words/bn/account"),
  de: () => import("#words/de/account"),
  en: () => import("#words/en/account"),
  fr: () => import("#words/fr/account"),
  it: () => import("#words/it/account"),
  nl: () => import("#words/nl/account"),
  "pt-BR": () => import("#words/pt-BR/account"),
  zh: () => import("#words/zh/account"),
};

/** Adds those of the account page to the words of a login. */
export async function withAccountOf(language: Language, words: FlowWords): Promise<FlowWords> {
  return withAccount(words, (await files[language]()).account);
}

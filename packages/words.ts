import type { FlowWords } from "#words/flow";
import { type Language, languageTags } from "#words/language-tags";
import type { WordSource } from "../components/embed/embedded-login.tsx";
import { matchLanguage } from "../server/lib/match-language.ts";

/** The words of a login in each language, in a file of its own. */
const files: Record<Language, () => Promise<{ flow: FlowWords }>> = {
  bn: () => import("#words/bn/flow"),
  de: () => import("#words/de/flow"),
  en: () => import("#words/en/flow"),
  fr: () => import("#words/fr/flow"),
  it: () => import("#words/it/flow"),
  nl: () => import("#words/nl/flow"),
  "pt-BR": () => import("#words/pt-BR/flow"),
  zh: () => import("#words/zh/flow"),
};

/** The words of the packages, loaded one language at a time. */
export const wordSource: WordSource<Language> = {
  choose: (wanted) => matchLanguage(wanted, languageTags) ?? "en",
  async load(language, forAccount) {
    const [{ flow }, account] = await Promise.all([
      files[language](),
      forAccount ? import("./account-words.ts") : null,
    ]);
    return account ? account.withAccountOf(language, flow) : flow;
  },
};

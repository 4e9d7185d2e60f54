import { cookies, headers } from "next/headers";
import type { Config } from "#server/config/schema";
import { pageLanguage } from "#server/http/language";
import type { PageLanguage } from "#words/language-tags";
import type { LanguageWords } from "#words/language-words";
import { wordsOf } from "#words/words-of";
import { LANGUAGE } from "./page-language.ts";

/**
 * The language of the current page, chosen by the visitor, else by the browser, and its words.
 *
 * @param config that of the tenant, whose own texts replace ours
 */
export async function pageWords({
  words,
  mode,
}: Pick<Config, "words" | "mode">): Promise<{ language: PageLanguage; words: LanguageWords }> {
  const sent = await headers();
  const chosen = sent.get(LANGUAGE) ?? (await cookies()).get(LANGUAGE)?.value ?? null;
  const language = pageLanguage(chosen, sent.get("accept-language"), mode);
  return { language, words: wordsOf(language, words) };
}

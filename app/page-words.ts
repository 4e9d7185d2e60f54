import { cookies, headers } from "next/headers";
import { pageLanguage } from "#server/http/language";
import type { Language } from "#words/language-tags";
import type { LanguageWords } from "#words/language-words";
import { translations } from "#words/translations";
import { LANGUAGE } from "./page-language.ts";

/** The language of the current page, chosen by the visitor, else by the browser, and its words. */
export async function pageWords(): Promise<{ language: Language; words: LanguageWords }> {
  const sent = await headers();
  const chosen = sent.get(LANGUAGE) ?? (await cookies()).get(LANGUAGE)?.value ?? null;
  const language = pageLanguage(chosen, sent.get("accept-language"));
  return { language, words: translations[language] };
}

import { cookies, headers } from "next/headers";
import { chooseWords } from "../components/flow/words/languages.ts";
import type { Words } from "../components/flow/words/words.ts";
import { LANGUAGE } from "./page-language.ts";

/** The words for whoever asks for this page: what they chose, else what their browser likes best. */
export async function pageWords(): Promise<Words> {
  const sent = await headers();
  const chosen = sent.get(LANGUAGE) ?? (await cookies()).get(LANGUAGE)?.value ?? null;
  return chooseWords(chosen, sent.get("accept-language"));
}

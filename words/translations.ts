import { bn } from "./bn/index.ts";
import { de } from "./de/index.ts";
import { en } from "./en/index.ts";
import { fr } from "./fr/index.ts";
import { it } from "./it/index.ts";
import type { Language } from "./language-tags.ts";
import type { LanguageWords } from "./language-words.ts";
import { nl } from "./nl/index.ts";
import { ptBR } from "./pt-BR/index.ts";
import { zh } from "./zh/index.ts";

/**
 * All words, one row per language. Only the server imports this table: a page gets the words of its own language with
 * its properties, so a browser loads no other language.
 */
export const translations: Readonly<Record<Language, LanguageWords>> = {
  en,
  de,
  bn,
  fr,
  it,
  nl,
  "pt-BR": ptBR,
  zh,
};

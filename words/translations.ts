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

/** The words with a hyphen in "e-mail" at which no line ends (U+2011). */
function unbroken<Words>(words: Words): Words {
  if (typeof words === "string") return words.replace(/\b(e)-(mail)/gi, "$1\u2011$2") as Words;
  if (Array.isArray(words)) return words.map(unbroken) as Words;
  if (typeof words !== "object" || words === null) return words;
  return Object.fromEntries(Object.entries(words).map(([name, child]) => [name, unbroken(child)])) as Words;
}

/**
 * All words, one row per language. Only the server imports this table: a page gets the words of its own language with
 * its properties, so a browser loads no other language.
 */
export const translations: Readonly<Record<Language, LanguageWords>> = {
  en,
  de: unbroken(de),
  bn,
  fr: unbroken(fr),
  it,
  nl: unbroken(nl),
  "pt-BR": unbroken(ptBR),
  zh,
};

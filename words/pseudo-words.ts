import { en } from "./en/index.ts";
import type { pseudoTags } from "./language-tags.ts";
import type { LanguageWords } from "./language-words.ts";
import { mapTexts } from "./with-texts.ts";

/** Letters of English and, in the same order, the same with a mark. */
const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPRSTUVWYZ";
const accented = Array.from("àƀçđéƒĝĥîĵķļɱñöþʠŕšţûṽŵẋýžÅƁÇĐÉƑĜĤÎĴĶĻṀÑÖÞŔŠŢÛṼŴÝŽ");

/** How much longer a text becomes: translations of short texts are up to so much longer than English. */
const GROWTH = 0.4;

/** Applies a function to what is outside braces: placeholders, and the syntax of ICU messages, stay. */
function outsideBraces(text: string, change: (literal: string) => string): string {
  let depth = 0;
  const parts: { literal: boolean; text: string }[] = [];
  for (const character of text) {
    if (character === "{") depth += 1;
    const literal = depth === 0;
    if (character === "}") depth -= 1;
    const last = parts.at(-1);
    if (last?.literal === literal) last.text += character;
    else parts.push({ literal, text: character });
  }
  return parts.map((part) => (part.literal ? change(part.text) : part.text)).join("");
}

function lengthened(text: string): string {
  const shown = outsideBraces(text, (literal) =>
    literal.replace(/[A-Za-z]/g, (letter) => accented[plain.indexOf(letter)] ?? letter),
  );
  const more = Math.ceil(text.length * GROWTH);
  const filler = "one two three four five six seven eight nine ten eleven twelve "
    .repeat(4)
    .slice(0, more)
    .trim();
  return `[${shown} ${filler}]`;
}

/** Each word in the opposite order of its letters, by an override of direction, and strong from right to left. */
function mirrored(text: string): string {
  return `\u200f${outsideBraces(text, (literal) => literal.replace(/[A-Za-z0-9]+/g, "\u202e$&\u202c"))}\u200f`;
}

const pseudo = (name: string, change: (text: string) => string): LanguageWords => ({
  ...mapTexts(en, change),
  name,
});

/** The words of the pseudo-languages, made from English. */
export const pseudoWords: Readonly<Record<(typeof pseudoTags)[number], LanguageWords>> = {
  "en-XA": pseudo("[Éñĝļîšĥ]", lengthened),
  "ar-XB": pseudo("\u202eEnglish\u202c", mirrored),
};

import type { PageLanguage } from "./language-tags.ts";

export type Direction = "ltr" | "rtl";

/** The direction in which each language is written (HTML, 3.2.6.4). */
const directions: Readonly<Record<PageLanguage, Direction>> = {
  de: "ltr",
  en: "ltr",
  fr: "ltr",
  it: "ltr",
  nl: "ltr",
  "pt-BR": "ltr",
  bn: "ltr",
  zh: "ltr",
  "en-XA": "ltr",
  "ar-XB": "rtl",
};

/** The direction of a language by its tag (BCP 47); left to right for a language that is not one of ours. */
export function directionOf(tag: string): Direction {
  return Object.hasOwn(directions, tag) ? directions[tag as PageLanguage] : "ltr";
}

import type { Language } from "./language.ts";
import { translatedTags } from "./languages.ts";

/**
 * Chooses the language of a page among those with words: the language asked for, else the one that the browser prefers
 * (RFC 9110, 12.5.4), else English. A tag matches by its primary subtag when it does not match whole (RFC 4647, 3.4).
 *
 * @param acceptLanguage the `Accept-Language` header
 */
export function chooseLanguage(asked: string | null, acceptLanguage: string | null): Language {
  const wanted = [asked ?? "", ...preferences(acceptLanguage ?? "")];
  for (const tag of wanted) {
    const language = find(tag);
    if (language) return language;
  }
  return "en";
}

function find(tag: string): Language | undefined {
  const wanted = tag.toLowerCase();
  const primary = wanted.split("-")[0];
  return (
    translatedTags.find((language) => language.toLowerCase() === wanted) ??
    translatedTags.find((language) => language.toLowerCase().split("-")[0] === primary)
  );
}

/** The tags of an `Accept-Language` header, preferred first, without those of weight 0. */
function preferences(header: string): string[] {
  return header
    .slice(0, 1000)
    .split(",")
    .map((part) => {
      const [tag = "", ...parameters] = part.trim().split(";");
      const weight = parameters.map((parameter) => /^\s*q=([\d.]+)\s*$/.exec(parameter)?.[1]).find(Boolean);
      return { tag: tag.trim(), weight: weight === undefined ? 1 : Number(weight) };
    })
    .filter(({ tag, weight }) => tag !== "" && weight > 0)
    .sort((one, other) => other.weight - one.weight)
    .map(({ tag }) => tag);
}

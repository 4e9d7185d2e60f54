import { de } from "./de.ts";
import { en } from "./en.ts";
import type { Words } from "./words.ts";

/** Every language the page speaks. A language is one file and one row here. */
export const languages = [en, de] as const satisfies readonly Words[];

/**
 * The words for a visitor: in the language asked for, else in the one their browser likes best (RFC 9110, 12.5.4),
 * else in English. A tag matches by its primary subtag when it does not match whole (RFC 4647, 3.4).
 */
export function chooseWords(asked: string | null, acceptLanguage: string | null): Words {
  const wanted = [asked ?? "", ...preferences(acceptLanguage ?? "")];
  for (const tag of wanted) {
    const words = find(tag);
    if (words) return words;
  }
  return en;
}

function find(tag: string): Words | undefined {
  const wanted = tag.toLowerCase();
  const primary = wanted.split("-")[0];
  return (
    languages.find((words) => words.language.toLowerCase() === wanted) ??
    languages.find((words) => words.language.toLowerCase().split("-")[0] === primary)
  );
}

/** The tags of an Accept-Language header, best first; those with weight 0 are left out. */
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

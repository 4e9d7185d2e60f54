import { type Language, languageTags } from "#words/language";

/** The cookie that holds the language a visitor of our page chose there. */
export const LANGUAGE_COOKIE = "stile-language";

const byName = new Map<string, Language>(languageTags.map((language) => [language.toLowerCase(), language]));

/**
 * The language of mails that `X-Language` names. Anything unknown is English, the word `undefined` included, which
 * a published client sends when it was given no language.
 */
export function languageOf(header: string | null): Language {
  return byName.get(header?.toLowerCase() ?? "") ?? "en";
}

/**
 * The best of our languages for an `Accept-Language` header (RFC 9110, 12.5.4), by weight, a region falling back to
 * its language.
 */
export function acceptedLanguage(header: string | null): Language {
  const wanted = (header ?? "")
    .slice(0, 500)
    .split(",")
    .map((entry) => {
      const [tag = "", ...parameters] = entry.split(";").map((part) => part.trim().toLowerCase());
      const weight = parameters.find((parameter) => parameter.startsWith("q="));
      return { tag, weight: weight === undefined ? 1 : Number(weight.slice(2)) };
    })
    .filter(({ weight }) => weight > 0)
    .sort((one, other) => other.weight - one.weight);
  for (const { tag } of wanted) {
    const language = byName.get(tag) ?? byName.get(tag.split("-")[0] ?? "") ?? regional(tag);
    if (language) return language;
  }
  return "en";
}

/** `pt` and `pt-PT` are served by the one Portuguese there is. */
function regional(tag: string): Language | undefined {
  const base = tag.split("-")[0];
  return languageTags.find((language) => language.split("-")[0] === base);
}

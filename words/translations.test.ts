import { describe, expect, test } from "vitest";
import { languageTags } from "./language-tags.ts";
import { translatedTags, translations, wordsIn } from "./translations.ts";

/** Every text of a language by its path, with the names of its placeholders. */
function shape(node: unknown, path = ""): [string, string[]][] {
  if (typeof node === "string")
    return [[path, [...node.matchAll(/\{(\w+)[,}]/g)].map(([, name = ""]) => name).sort()]];
  return Object.entries(node as object).flatMap(([name, child]) =>
    typeof child === "object" || typeof child === "string" ? shape(child, `${path}/${name}`) : [],
  );
}

function texts(node: unknown): string[] {
  return typeof node === "string" ? [node] : Object.values(node as object).flatMap(texts);
}

describe.each(translatedTags)("the translation %s", (tag) => {
  const { words } = wordsIn(tag);

  test("has the texts of English, with the same placeholders", () => {
    expect(shape(words)).toEqual(shape(translations.en));
  });

  test("has no empty text", () => {
    expect(texts(words).filter((text) => typeof text === "string" && text.trim() === "")).toEqual([]);
  });

  test("is a translation of its own", () => {
    for (const part of ["flow", "confirmation", "mail"] as const) {
      expect(words[part] === translations.en[part]).toBe(tag === "en");
    }
  });
});

test("a language without words falls back to English", () => {
  for (const tag of languageTags.filter((tag) => !translatedTags.includes(tag))) {
    expect(wordsIn(tag)).toEqual({ language: "en", words: translations.en });
  }
});

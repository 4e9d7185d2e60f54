import { describe, expect, test } from "vitest";
import { languageTags } from "./language-tags.ts";
import { languages, translatedTags, wordsIn } from "./translations.ts";

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

describe.each(translatedTags)("the words of %s", (tag) => {
  const { words } = wordsIn(tag);

  test("have the texts of English, with the same placeholders", () => {
    expect(shape(words)).toEqual(shape(languages.en));
  });

  test("leave no text empty", () => {
    expect(texts(words).filter((text) => typeof text === "string" && text.trim() === "")).toEqual([]);
  });

  test("are their own", () => {
    for (const room of ["flow", "confirmation", "mail"] as const) {
      expect(words[room] === languages.en[room]).toBe(tag === "en");
    }
  });
});

test("a language without words falls back to English", () => {
  for (const tag of languageTags.filter((tag) => !translatedTags.includes(tag))) {
    expect(wordsIn(tag)).toEqual({ language: "en", words: languages.en });
  }
});

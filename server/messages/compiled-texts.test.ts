import { expect, test } from "vitest";
import { wordsOf } from "#words/words-of";
import { translatorOf } from "./compiled-texts.ts";

const mailOf = (words = {}) => translatorOf("en", wordsOf("en", words).mail);

test("compiled texts are shared by all tenants without texts of their own", () => {
  expect(mailOf({})).toBe(mailOf({ de: { mail: { link: "Los" } } }));
});

test("a tenant's own texts are compiled once for its settings, and are not those of others", () => {
  const words = { en: { mail: { link: "Go" } } };
  expect(mailOf(words)).toBe(mailOf(words));
  expect(mailOf(words)).not.toBe(mailOf());
});

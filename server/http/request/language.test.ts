import { expect, test } from "vitest";
import { acceptedLanguage, pageLanguage, requestedLanguage } from "./language.ts";

test.each([
  ["de", "de"],
  ["pt-BR", "pt-BR"],
  ["pt-br", "pt-BR"],
  ["undefined", "en"],
  ["tlh", "en"],
  ["__proto__", "en"],
  ["", "en"],
  ["zh-CN", "zh"],
  ["zh-Hant-TW", "zh"],
  ["pt", "pt-BR"],
  ["pt-PT", "pt-BR"],
  ["de-AT", "de"],
  ["BN", "bn"],
  ["french", "en"],
  ["-", "en"],
  [null, null],
])("X-Language %s is %s", (header, language) => {
  expect(requestedLanguage(header)).toBe(language);
});

test.each([
  ["de-AT,de;q=0.9,en;q=0.8", "de"],
  ["pt-PT", "pt-BR"],
  ["tlh, fr;q=0.5, it;q=0.7", "it"],
  ["de;q=0, nl", "nl"],
  ["tlh, sv;q=0.5", null],
  ["*", null],
  [";;;q=x,,", null],
  [null, null],
])("Accept-Language %s is %s", (header, language) => {
  expect(acceptedLanguage(header)).toBe(language);
});

test.each([
  [null, null, "en"],
  [null, "de", "de"],
  [null, "de-AT,en;q=0.8", "de"],
  [null, "sv-SE, sv;q=0.9, en;q=0.7, de;q=0.5", "en"],
  [null, "de;q=0, en", "en"],
  [null, "tlh, *;q=0.1", "en"],
  [null, "DE-ch", "de"],
  [null, ";;,q=,de;q=x", "de"],
  ["de", "en", "de"],
  ["tlh", "de", "de"],
])("for ?lang=%j and Accept-Language %j a page is in %s", (asked, header, expected) => {
  expect(pageLanguage(asked, header)).toBe(expected);
});

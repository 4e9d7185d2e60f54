import { expect, test } from "vitest";
import { matchLanguage } from "./match-language.ts";

const offered = ["en", "de", "pt-BR", "zh"] as const;

test.each([
  [["de"], "de"],
  [["DE-at"], "de"],
  [["pt-br"], "pt-BR"],
  [["pt"], "pt-BR"],
  [["pt-PT"], "pt-BR"],
  [["tlh", "de", "en"], "de"],
  [["*"], undefined],
  [["__proto__"], undefined],
  [[""], undefined],
  [[], undefined],
])("matches %j to %j", (wanted, expected) => {
  expect(matchLanguage(wanted, offered)).toBe(expected);
});

import { expect, test } from "vitest";
import { acceptedLanguageTags } from "./accept-language.ts";

test.each([
  [null, []],
  ["", []],
  ["de", ["de"]],
  ["de-AT,de;q=0.9,en;q=0.8", ["de-AT", "de", "en"]],
  ["tlh, fr;q=0.5, it;q=0.7", ["tlh", "it", "fr"]],
  ["de;q=0, nl", ["nl"]],
  ["en ; q=0.5 , de ; Q=0.6", ["de", "en"]],
  [";;,q=,de;q=x", ["q=", "de"]],
  ["de;q=1.2.3", []],
])("reads %j as %j", (header, tags) => {
  expect(acceptedLanguageTags(header)).toEqual(tags);
});

test("reads the first 1,000 characters only", () => {
  expect(acceptedLanguageTags(`${"x,".repeat(500)}de`)).not.toContain("de");
});

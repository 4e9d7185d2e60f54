import { expect, test } from "vitest";
import { reasonName, reasonOf } from "../conditions/condition.ts";
import { everyDecisive, sentenceOf } from "./reasons.ts";

test("a reason has one sentence by its name", () => {
  const sentences = Map.groupBy(everyDecisive(), reasonName);
  for (const [name, those] of sentences)
    expect([name, [...new Set(those.map((one) => reasonOf(one).sentence))]]).toEqual([
      name,
      [sentenceOf(name)],
    ]);
  for (const name of sentences.keys()) expect(name).toMatch(/^!?[a-z]+:[A-Za-z_. =]+$/);
});

test("a reason that another version has recorded is told by its name", () => {
  expect(sentenceOf("!setting:teleport.enabled")).toBe("!setting:teleport.enabled");
});

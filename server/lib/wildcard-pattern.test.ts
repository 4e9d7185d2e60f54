import { describe, expect, test } from "vitest";
import { StepBudget } from "./step-budget.ts";
import { matchesPattern, parsePattern, patternFault, subjectOf, type Wildcard } from "./wildcard-pattern.ts";

const wildcards: Record<string, Wildcard & { source: string }> = {
  "*": { takes: (character) => character !== "/", least: 0, source: "[^/]*" },
  "**": { takes: () => true, least: 0, source: ".*" },
  "+": { takes: (character) => character !== "/", least: 1, source: "[^/]+" },
  ".": { takes: (character) => /[a.]/.test(character), least: 1, inner: ".", source: "a(?:[a.]*a)?" },
};

/** Every list of up to `most` members. */
const listsOf = <One>(members: readonly One[], most: number): One[][] =>
  most === 0
    ? [[]]
    : [[], ...listsOf(members, most - 1).flatMap((list) => members.map((one) => [...list, one]))];

test("a pattern matches what the regular expression of the same meaning matches, for every short text", () => {
  const texts = listsOf(["a", "b", "/", "."], 5).map((characters) => characters.join(""));
  let compared = 0;
  for (const parts of listsOf(["a", "ba", "*", "**", "+", "."], 4)) {
    // Parsers give no two wildcards without text between them.
    if (parts.some((part, at) => part in wildcards && (parts[at + 1] ?? "") in wildcards)) continue;
    const pattern = parsePattern(parts.map((part) => wildcards[part] ?? part));
    const source = parts.map((part) => wildcards[part]?.source ?? part).join("");
    const expression = new RegExp(`^${source}$`);
    if (!pattern) throw new Error(`${parts} is beyond the bounds`);
    for (const text of texts) {
      const matched = matchesPattern(pattern, subjectOf(text), new StepBudget(1_000));
      if (matched !== expression.test(text)) throw new Error(`${parts.join(" ")} and ${text}: ${matched}`);
      compared++;
    }
  }
  expect(compared).toBeGreaterThan(100_000);
});

test("a literal is found where it overlaps itself", () => {
  const pattern = parsePattern(["", wildcards["**"] as Wildcard, "aab", wildcards["**"] as Wildcard, "aab"]);
  if (!pattern) throw new Error("the pattern is beyond the bounds");
  const matches = (text: string) => matchesPattern(pattern, subjectOf(text), new StepBudget(1_000));
  expect(matches("aaabaab")).toBe(true);
  expect(matches("aaab")).toBe(false);
});

test("a pattern beyond the bounds is not parsed", () => {
  const many = (wildcard: number) =>
    Array.from({ length: wildcard }, () => ["a", wildcards["*"] as Wildcard]).flat();
  expect(parsePattern(many(4))).not.toBeNull();
  expect(parsePattern(many(5))).toBeNull();
  expect(parsePattern(["a".repeat(255)])).not.toBeNull();
  expect(parsePattern(["a".repeat(256)])).toBeNull();
});

test("matching stops when the budget is used up", () => {
  const pattern = parsePattern(["", wildcards["**"] as Wildcard, "a"]);
  if (!pattern) throw new Error("the pattern is beyond the bounds");
  const text = `${"b".repeat(100)}a`;
  expect(matchesPattern(pattern, subjectOf(text), new StepBudget(101))).toBe(true);
  expect(matchesPattern(pattern, subjectOf(text), new StepBudget(100))).toBe(false);
});

describe("wildcards of an entry", () => {
  test.each([
    ["https://*.*.example.com/*/*", null],
    ["https://**.example.com:*/**?*", null],
    ["*.*.example.com", null],
    ["https://*.*.*.example.com", "must not have more than 2 wildcards in a host"],
    ["*-*-*.example.com", "must not have more than 2 wildcards in a host"],
    ["https://example.com/*/*/*/*?*", "must not have more than 4 wildcards"],
  ])("%s: %s", (entry, fault) => {
    expect(patternFault(entry)).toBe(fault);
  });
});

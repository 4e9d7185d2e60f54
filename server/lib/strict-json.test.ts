import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { MAX_JSON_DEPTH, MAX_JSON_MEMBERS, parseJson } from "./strict-json.ts";

test("JSON is read as it was written", () => {
  const value = fc.jsonValue({ maxDepth: 4 }).filter((value) => {
    const text = JSON.stringify(value);
    return text.isWellFormed() && !text.includes("__proto__") && !/\\ud[89a-f]/.test(text);
  });
  fc.assert(
    fc.property(value, (value) => {
      const text = JSON.stringify(value);
      expect(parseJson(text)).toEqual(JSON.parse(text));
    }),
  );
});

test("members like constructor stay plain data", () => {
  const value = parseJson('{"constructor":{"prototype":1},"toString":2}') as Record<string, unknown>;
  expect(Object.keys(value)).toEqual(["constructor", "toString"]);
});

describe("refused is", () => {
  test.each([
    ["nothing", ""],
    ["half of it", '{"a":'],
    ["a byte order mark", "\ufeff{}"],
    ["a number that is none", "[1e999]"],
    ["a name that occurs twice", '{"a":1,"a":1}'],
    ["a name that occurs twice in different spellings", '[{"a":1,"\\u0061":2}]'],
    ["a member named __proto__", '[{"__proto__":{"polluted":1}}]'],
    ["the same, spelled otherwise", '{"\\u005f_proto__":1}'],
    ["a lone surrogate", '["\\ud800"]'],
    ["a lone surrogate in a name", '{"\\udc00":1}'],
    ["too deep a nesting", "[".repeat(MAX_JSON_DEPTH + 1) + "]".repeat(MAX_JSON_DEPTH + 1)],
    ["endless nesting", "[".repeat(1_000_000)],
    ["too many members", `[${'{"a":1},'.repeat(MAX_JSON_MEMBERS)}{"a":1}]`],
  ])("A91 %s", (_what, text) => {
    expect(parseJson(text)).toBeUndefined();
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });
});

test("as deep, and as many, as it may be is read", () => {
  expect(parseJson("[".repeat(MAX_JSON_DEPTH) + "]".repeat(MAX_JSON_DEPTH))).toBeDefined();
  expect(parseJson(`[${Array(MAX_JSON_MEMBERS).fill('{"a":1}').join()}]`)).toHaveLength(MAX_JSON_MEMBERS);
});

test("whatever the text, nothing is thrown", () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.string({ unit: "binary" }), fc.string({ unit: fc.constantFrom(...'{}[]":,\\1a') })),
      (text) => {
        expect(() => parseJson(text)).not.toThrow();
      },
    ),
    { numRuns: 2000 },
  );
});

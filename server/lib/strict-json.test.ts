import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { MAX_JSON_DEPTH, MAX_JSON_MEMBERS, parseJson } from "./strict-json.ts";

test("parses valid JSON as JSON.parse does", () => {
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

test("parses members such as constructor as plain data", () => {
  const value = parseJson('{"constructor":{"prototype":1},"toString":2}') as Record<string, unknown>;
  expect(Object.keys(value)).toEqual(["constructor", "toString"]);
});

describe("parseJson", () => {
  test.each([
    ["an empty text", ""],
    ["a truncated text", '{"a":'],
    ["a byte order mark", "\ufeff{}"],
    ["a number beyond a double", "[1e999]"],
    ["a duplicate name", '{"a":1,"a":1}'],
    ["a duplicate name in another encoding", '[{"a":1,"\\u0061":2}]'],
    ["a member named __proto__", '[{"__proto__":{"polluted":1}}]'],
    ["a member named __proto__ in another encoding", '{"\\u005f_proto__":1}'],
    ["a lone surrogate", '["\\ud800"]'],
    ["a lone surrogate in a name", '{"\\udc00":1}'],
    [
      "more than the maximum number of levels",
      "[".repeat(MAX_JSON_DEPTH + 1) + "]".repeat(MAX_JSON_DEPTH + 1),
    ],
    ["a million levels", "[".repeat(1_000_000)],
    ["too many members", `[${'{"a":1},'.repeat(MAX_JSON_MEMBERS)}{"a":1}]`],
  ])("A91 rejects %s", (_what, text) => {
    expect(parseJson(text)).toBeUndefined();
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });
});

test("accepts the maximum numbers of levels and members", () => {
  expect(parseJson("[".repeat(MAX_JSON_DEPTH) + "]".repeat(MAX_JSON_DEPTH))).toBeDefined();
  expect(parseJson(`[${Array(MAX_JSON_MEMBERS).fill('{"a":1}').join()}]`)).toHaveLength(MAX_JSON_MEMBERS);
});

test("reads what JSON.parse reads, or nothing", () => {
  const read = (text: string): unknown => {
    try {
      return JSON.parse(text);
    } catch {
      return undefined;
    }
  };
  fc.assert(
    fc.property(
      fc.oneof(fc.string({ unit: "binary" }), fc.string({ unit: fc.constantFrom(...'{}[]":,\\1a') })),
      (text) => {
        expect([read(text), undefined]).toContainEqual(parseJson(text));
      },
    ),
    { numRuns: 2000 },
  );
});

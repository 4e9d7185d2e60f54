import {
  assert,
  constantFrom,
  dictionary,
  json,
  jsonValue,
  property,
  shuffledSubarray,
  string,
} from "fast-check";
import { describe, expect, test } from "vitest";
import { canonicalJson, MAX_DATA_BYTES, readCanonicalJson } from "./canonical-json.ts";

const textOf = (value: unknown) => {
  const canonical = canonicalJson(value);
  return canonical.ok ? canonical.text : canonical.reason;
};

describe("canonicalJson", () => {
  test("serializes the example of RFC 8785, 3.2.2 and 3.2.3", () => {
    const example = String.raw`{
      "numbers": [333333333.33333329, 4.50, 2e-3, 0.000000000000000000000000001],
      "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
      "literals": [null, true, false]
    }`;
    expect(textOf(JSON.parse(example))).toBe(
      String.raw`{"literals":[null,true,false],"numbers":[333333333.3333333,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`,
    );
  });

  test("sorts names by UTF-16 code units (RFC 8785, 3.2.3)", () => {
    const names = ["\u20ac", "\r", "\ufb33", "1", "\u{1f600}", "\u0080", "\u00f6"];
    const text = textOf(Object.fromEntries(names.map((name) => [name, 0])));
    expect(Object.keys(JSON.parse(text))).toEqual([
      "1",
      "\r",
      "\u0080",
      "\u00f6",
      "\u20ac",
      "\u{1f600}",
      "\ufb33",
    ]);
    expect([...text.matchAll(/"((?:[^"\\]|\\.)+)":/gu)].map(([, name]) => JSON.parse(`"${name}"`))).toEqual([
      "\r",
      "1",
      "\u0080",
      "\u00f6",
      "\u20ac",
      "\u{1f600}",
      "\ufb33",
    ]);
  });

  test("A69 ignores the order of members at every level", async () => {
    const objects = dictionary(string(), dictionary(string(), jsonValue({ maxDepth: 2 })));
    await assert(
      property(
        objects.chain((object) =>
          shuffledSubarray(Object.keys(object), { minLength: Object.keys(object).length }).map((names) => ({
            object,
            shuffled: Object.fromEntries(
              names.map((name) => [name, Object.fromEntries(Object.entries(object[name] ?? {}).reverse())]),
            ),
          })),
        ),
        ({ object, shuffled }) => {
          expect(canonicalJson(shuffled)).toEqual(canonicalJson(object));
        },
      ),
    );
  });

  test("A69 ignores the spelling of strings and numbers", () => {
    expect(textOf(JSON.parse(String.raw`{"a":"\u00e9\/","b":1.0e2}`))).toBe('{"a":"é/","b":100}');
    expect(textOf(JSON.parse('{ "b" : 100, "a":"é/" }'))).toBe('{"a":"é/","b":100}');
  });

  test.each([
    [null, "not_object"],
    [[], "not_object"],
    ["{}", "not_object"],
    [undefined, "not_object"],
    [{ a: "\ud800" }, "text"],
    [{ "\udc00": 1 }, "text"],
    [{ a: [{ b: "x\ud800y" }] }, "text"],
    [{ a: Number.POSITIVE_INFINITY }, "number"],
    [{ a: Number.NaN }, "number"],
    [{ a: 2 ** 53 }, "number"],
    [{ a: 1e21 }, "number"],
    [{ a: undefined }, "value"],
    [{ a: () => 1 }, "value"],
    [{ a: 1n }, "value"],
    [{ a: "x".repeat(MAX_DATA_BYTES) }, "too_large"],
  ])("rejects %o: %s", (value, reason) => {
    expect(canonicalJson(value)).toEqual({ ok: false, reason });
  });

  test("rejects more than 32 levels", () => {
    const nested = (levels: number) => {
      let value: unknown = 1;
      for (let level = 0; level < levels; level++) value = { a: value };
      return value;
    };
    expect(canonicalJson(nested(32)).ok).toBe(true);
    expect(canonicalJson(nested(33))).toEqual({ ok: false, reason: "too_deep" });
    expect(canonicalJson(nested(10_000))).toEqual({ ok: false, reason: "too_deep" });
  });

  test("A90 treats no member name specially", () => {
    const data = '{"constructor":{"prototype":1},"length":0,"toJSON":"x"}';
    expect(textOf(JSON.parse(data))).toBe(data);
  });
});

describe("readCanonicalJson", () => {
  test("parses a canonical text", async () => {
    await assert(
      property(dictionary(string(), jsonValue({ maxDepth: 3 })), (object) => {
        const canonical = canonicalJson(object);
        if (canonical.ok && !canonical.text.includes('"__proto__"'))
          expect(readCanonicalJson(canonical.text)).toEqual(JSON.parse(canonical.text));
      }),
    );
  });

  test.each([
    '{"a":1 }',
    ' {"a":1}',
    '{"b":1,"a":1}',
    '{"a":1.0}',
    '{"a":-0}',
    String.raw`{"a":"\u0041"}`,
    String.raw`{"a":"\/"}`,
    '{"a":1,"a":1}',
    '{"__proto__":1}',
    String.raw`{"a":"\ud800"}`,
    "[]",
    "1",
    "",
    "{",
    `{"a":"${"x".repeat(MAX_DATA_BYTES)}"}`,
  ])("rejects %.40j", (text) => {
    expect(readCanonicalJson(text)).toBeNull();
  });

  test("never throws", async () => {
    await assert(
      property(json(), string(), constantFrom("{", "}", '"'), (text, other, last) => {
        readCanonicalJson(text);
        readCanonicalJson(other);
        readCanonicalJson(text + last);
      }),
    );
  });
});

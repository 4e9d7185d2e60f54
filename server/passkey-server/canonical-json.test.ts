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
import { canonicalJson, MAX_DATA_BYTES, readCanonicalJson, rejectedNumber } from "./canonical-json.ts";

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

describe("numbers", () => {
  /** The samples of RFC 8785, appendix B: a double as hexadecimal digits, and its canonical form. */
  const samples = [
    ["0000000000000000", "0"],
    ["8000000000000000", "0"],
    ["0000000000000001", "5e-324"],
    ["8000000000000001", "-5e-324"],
    ["7fefffffffffffff", "1.7976931348623157e+308"],
    ["ffefffffffffffff", "-1.7976931348623157e+308"],
    ["4340000000000000", "9007199254740992"],
    ["c340000000000000", "-9007199254740992"],
    ["4430000000000000", "295147905179352830000"],
    ["44b52d02c7e14af5", "9.999999999999997e+22"],
    ["44b52d02c7e14af6", "1e+23"],
    ["44b52d02c7e14af7", "1.0000000000000001e+23"],
    ["444b1ae4d6e2ef4e", "999999999999999700000"],
    ["444b1ae4d6e2ef4f", "999999999999999900000"],
    ["444b1ae4d6e2ef50", "1e+21"],
    ["3eb0c6f7a0b5ed8c", "9.999999999999997e-7"],
    ["3eb0c6f7a0b5ed8d", "0.000001"],
    ["41b3de4355555553", "333333333.3333332"],
    ["41b3de4355555554", "333333333.33333325"],
    ["41b3de4355555555", "333333333.3333333"],
    ["41b3de4355555556", "333333333.3333334"],
    ["41b3de4355555557", "333333333.33333343"],
    ["becbf647612f3696", "-0.0000033333333333333333"],
    ["43143ff3c1cb0959", "1424953923781206.2"],
  ] as const;

  test.each(samples)("are serialized as in RFC 8785, appendix B: %s is %s", (hex, text) => {
    const a = Buffer.from(hex, "hex").readDoubleBE();
    expect(textOf({ a })).toBe(`{"a":${text}}`);
    expect(readCanonicalJson(`{"a":${text}}`)).toEqual({ a: a === 0 ? 0 : a });
  });

  const rejection = (source: string) => rejectedNumber(`{"x":1e400,"data":{"a":[0,${source}]}}`, "data");

  test.each([
    "0",
    "-0",
    "0.000",
    "0e999",
    "1e21",
    "4.50",
    "2e-3",
    "333333333.33333329",
    "0.000000000000000000000000001",
    "9007199254740991",
    "9007199254740992",
    "295147905179352825856",
    "9007199254740991.4",
    "0.10000000000000000000000",
    "123456789.12300000000000000000",
    "0.1000000000000000055511151231257827021181583404541015625",
    "5e-324",
    "1.7976931348623157e308",
  ])("%s is taken", (source) => {
    expect(rejection(source)).toBeNull();
  });

  test.each([
    ["1e400", "is out of range"],
    ["-1e309", "is out of range"],
    ["1e-400", "is too small and would become 0"],
    ["-0.1e-330", "is too small and would become 0"],
    ["9007199254740993", "is an integer that a double cannot hold: send it as a string"],
    ["-295147905179352830000", "is an integer that a double cannot hold: send it as a string"],
    ["0.12345678901234567890", "has more digits than a double can hold: send it as a string"],
    ["9007199254740991.43", "has more digits than a double can hold: send it as a string"],
    [`1.${"0".repeat(120)}1`, "has more digits than a double can hold: send it as a string"],
  ])("%s is rejected: it %s", (source, reason) => {
    expect(rejection(source)).toBe(`data.a[1] ${reason}`);
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

  test("reads a canonical text or nothing from any text", async () => {
    await assert(
      property(json(), string(), constantFrom("{", "}", '"'), (text, other, last) => {
        for (const given of [text, other, text + last]) {
          const read = readCanonicalJson(given);
          if (read === null) continue;
          expect(canonicalJson(read)).toEqual({ ok: true, text: given });
        }
        expect(readCanonicalJson(`{"a":"b"}${last}`)).toBeNull();
      }),
    );
  });
});

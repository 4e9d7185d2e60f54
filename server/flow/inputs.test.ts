import { describe, expect, test } from "vitest";
import { z } from "zod";
import { describeInputs, parseInput, preservedValues } from "./inputs.ts";

describe("describeInputs", () => {
  test("returns name, type, required and bounds of each input", () => {
    const schema = z.strictObject({
      code: z.string().length(6),
      email: z.string().min(3).max(120).meta({ input: "email", preserve: true }).optional(),
      remember: z.boolean(),
      available: z.boolean().default(false).meta({ hidden: true, announcedRequired: true }),
      public_key: z.record(z.string(), z.unknown()),
      provider: z.enum(["github", "google"]),
    });
    const { inputs, preserved } = describeInputs(schema);
    expect(inputs).toEqual({
      code: { name: "code", type: "string", required: true, hidden: false, min_length: 6, max_length: 6 },
      email: { name: "email", type: "email", required: false, hidden: false, min_length: 3, max_length: 120 },
      remember: { name: "remember", type: "boolean", required: true, hidden: false },
      available: { name: "available", type: "boolean", required: true, hidden: true, value: false },
      public_key: { name: "public_key", type: "json", required: true, hidden: false },
      provider: {
        name: "provider",
        type: "string",
        required: true,
        hidden: false,
        allowed_values: [
          { name: "github", value: "github" },
          { name: "google", value: "google" },
        ],
      },
    });
    expect(preserved).toEqual(["email"]);
  });
});

describe("parseInput", () => {
  const schema = z.strictObject({
    code: z.string().length(6),
    note: z.string().max(3).meta({ preserve: true }).optional(),
  });
  const valueOrErrors = (raw: Record<string, unknown>) => {
    const parsed = parseInput(schema, raw);
    return parsed.ok ? parsed.value : parsed.inputs;
  };

  test.each([
    ["rejects a missing input", {}, { code: { code: "value_missing_error" } }],
    ["rejects null", { code: null }, { code: { code: "value_missing_error" } }],
    ["rejects an empty string", { code: "" }, { code: { code: "value_missing_error" } }],
    ["rejects a string that is too short", { code: "12345" }, { code: { code: "value_too_short_error" } }],
    ["rejects a string that is too long", { code: "1234567" }, { code: { code: "value_too_long_error" } }],
    [
      "A93 rejects a number in place of a string",
      { code: 123456 },
      { code: { code: "value_invalid_error" } },
    ],
    [
      "A93 rejects a list in place of a string",
      { code: ["123456"] },
      { code: { code: "value_invalid_error" } },
    ],
    [
      "A93 rejects an object in place of a string",
      { code: { $ne: 1 } },
      { code: { code: "value_invalid_error" } },
    ],
    ["rejects an undeclared input", { code: "123456", other: 1 }, {}],
  ])("%s", (_, raw, expected) => {
    const parsed = parseInput(schema, raw);
    expect(parsed.ok).toBe(false);
    expect(valueOrErrors(raw)).toEqual(expected);
  });

  test("reports every invalid input, not only the first", () => {
    expect(valueOrErrors({ note: "long" })).toEqual({
      code: { code: "value_missing_error" },
      note: { code: "value_too_long_error" },
    });
  });

  test("treats null members as absent, declared or not", () => {
    expect(parseInput(schema, { code: "123456", note: null, other: null })).toEqual({
      ok: true,
      value: { code: "123456" },
    });
  });

  test("A90 treats prototype names as ordinary members", () => {
    expect(parseInput(schema, JSON.parse('{"code":"123456","__proto__":{"polluted":1}}')).ok).toBe(false);
    expect(parseInput(schema, JSON.parse('{"code":"123456","constructor":1}')).ok).toBe(false);
    expect(Object.hasOwn(Object.prototype, "polluted")).toBe(false);
  });

  test("preserves only marked inputs, without characters that the database rejects", () => {
    expect(preservedValues(schema, { code: "secret", note: "lo\0ng\ud800" })).toEqual({ note: "long\ufffd" });
    expect(preservedValues(schema, { note: "x".repeat(513) })).toEqual({});
    expect(preservedValues(schema, { note: 7 })).toEqual({});
  });
});

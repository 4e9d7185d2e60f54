import { expect, test } from "vitest";
import { flow as en } from "#words/en/flow";
import { actionWords, errorText, inputWords, interpolate, readable, stateWords } from "./words.ts";

test("unknown names are made readable, or shown in the server's words", () => {
  expect(stateWords(en, "verify_home_address").title).toBe("Verify home address");
  expect(actionWords(en, "call_me", "We ring you.")).toEqual({ label: "Call me", hint: "We ring you." });
  expect(actionWords(en, "call_me", "")).toEqual({ label: "Call me" });
  expect(inputWords(en, "street_name").label).toBe("Street name");
  expect(errorText(en, { code: "address_disputed", message: "This address is disputed." })).toBe(
    "This address is disputed.",
  );
  expect(errorText(en, { code: "address_disputed" })).toBe("Address disputed");
});

test("A90 names of built-in members are not words", () => {
  for (const name of ["constructor", "__proto__", "toString"]) {
    expect(stateWords(en, name).title).toBe(readable(name));
    expect(errorText(en, { code: name, message: "m" })).toBe("m");
  }
});

test("the most specific text of an error wins", () => {
  const input = { name: "new_password", min_length: 8, max_length: 256 };
  expect(errorText(en, { code: "value_too_short_error" }, input)).toBe("Please use at least 8 characters.");
  expect(errorText(en, { code: "value_invalid_error" }, input)).toMatch(/used too often/);
  expect(errorText(en, { code: "value_invalid_error" }, { name: "street" })).toBe(
    en.errors.value_invalid_error,
  );
});

test("placeholders are replaced, and those without a value become empty", () => {
  expect(interpolate("{a} of {b}{c}", { a: 1, b: "two" })).toBe("1 of two");
});

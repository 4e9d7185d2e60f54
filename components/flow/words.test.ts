import { expect, test } from "vitest";
import { flow as en } from "#words/en/flow";
import { actionWords, errorText, inputWords, interpolate, readable, stateWords } from "./words.ts";

test("what has no words is read out of its name, or told in the server's words", () => {
  expect(stateWords(en, "verify_home_address").title).toBe("Verify home address");
  expect(actionWords(en, "call_me", "We ring you.")).toEqual({ label: "Call me", hint: "We ring you." });
  expect(actionWords(en, "call_me", "")).toEqual({ label: "Call me" });
  expect(inputWords(en, "street_name").label).toBe("Street name");
  expect(errorText(en, { code: "address_disputed", message: "Somebody lives there." })).toBe(
    "Somebody lives there.",
  );
  expect(errorText(en, { code: "address_disputed" })).toBe("Address disputed");
});

test("A90 names that every object has are no words", () => {
  for (const name of ["constructor", "__proto__", "toString"]) {
    expect(stateWords(en, name).title).toBe(readable(name));
    expect(errorText(en, { code: name, message: "m" })).toBe("m");
  }
});

test("the text for an error is the most particular one there is", () => {
  const input = { name: "new_password", min_length: 8, max_length: 256 };
  expect(errorText(en, { code: "value_too_short_error" }, input)).toBe("Please use at least 8 characters.");
  expect(errorText(en, { code: "value_invalid_error" }, input)).toMatch(/used too often/);
  expect(errorText(en, { code: "value_invalid_error" }, { name: "street" })).toBe(
    en.errors.value_invalid_error,
  );
});

test("gaps are closed, and those without a value stay empty", () => {
  expect(interpolate("{a} of {b}{c}", { a: 1, b: "two" })).toBe("1 of two");
});

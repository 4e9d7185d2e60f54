import { expect, test } from "vitest";
import { states } from "../states.fixture.ts";
import { chooseWords, languages } from "./languages.ts";
import {
  actionWords,
  errorText,
  inputWords,
  interpolate,
  readable,
  stateWords,
  type Words,
} from "./words.ts";

const [en, de] = languages;

/** Every text of a language, by where it stands. */
function texts(node: unknown, path = ""): [string, string][] {
  if (typeof node === "string") return [[path, node]];
  return Object.entries(node as Record<string, unknown>).flatMap(([name, child]) =>
    typeof child === "object" || typeof child === "string" ? texts(child, `${path}/${name}`) : [],
  );
}

test.each(languages.map((words): [string, Words] => [words.languageName, words]))(
  "%s says as much as English does, with the same gaps, and leaves nothing empty",
  (_, words) => {
    const gaps = (text: string) => [...text.matchAll(/\{\w+\}/g)].map(([gap]) => gap).sort();
    const shape = (of: Words) => texts(of).map(([path, text]) => [path, gaps(text)]);
    expect(shape(words)).toEqual(shape(en));
    expect(texts(words).filter(([, text]) => text.trim() === "")).toEqual([]);
  },
);

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

test("every known state, action and input of the fixtures has words", () => {
  const known = Object.values(states).filter(({ name }) => name !== "verify_home_address");
  const ceremonial = ["webauthn_verify_assertion_response", "webauthn_verify_attestation_response"];
  for (const state of known) {
    expect(en.states).toHaveProperty(state.name);
    const unheard = [...ceremonial, "send_postcard"];
    for (const action of Object.values(state.actions).filter(({ action }) => !unheard.includes(action))) {
      expect(en.actions).toHaveProperty(action.action);
      for (const input of Object.values(action.inputs).filter(({ hidden }) => !hidden)) {
        expect(en.inputs).toHaveProperty(input.name);
      }
    }
  }
});

test.each([
  [null, null, en],
  [null, "de", de],
  [null, "de-AT,en;q=0.8", de],
  [null, "fr-FR, fr;q=0.9, de;q=0.5, en;q=0.7", en],
  [null, "de;q=0, en", en],
  [null, "tlh, *;q=0.1", en],
  [null, "DE-ch", de],
  [null, ";;,q=,de;q=x", de],
  ["de", "en", de],
  ["tlh", "de", de],
])("asked for %j by a browser that likes %j, the page speaks as it should", (asked, header, expected) => {
  expect(chooseWords(asked, header)).toBe(expected);
});

import { expect, test } from "vitest";
import type { InputDescriptor } from "../../flow/wire.ts";
import { readForm } from "./form.ts";

const inputs: Record<string, InputDescriptor> = {
  email: { name: "email", type: "email", required: true },
  password: { name: "password", type: "password" },
  remember_me: { name: "remember_me", type: "boolean" },
  webauthn_available: { name: "webauthn_available", type: "boolean", hidden: true },
  count: { name: "count", type: "number" },
  public_key: { name: "public_key", type: "json" },
  choice: { name: "choice", type: "string", allowed_values: [{ name: "Two", value: 2 }] },
};

const read = (form: string) => readForm(new URLSearchParams(form), inputs);

test.each([
  ["email=a%40b.example&remember_me=true", { email: "a@b.example", remember_me: true }],
  ["remember_me=on", { remember_me: true }],
  ["remember_me=false&remember_me=true", { remember_me: true }],
  ["remember_me=maybe", { remember_me: "maybe" }],
  ["webauthn_available=true", { remember_me: false, webauthn_available: true }],
  ["email=", { remember_me: false }],
  ["count=12", { remember_me: false, count: 12 }],
  ["count=twelve", { remember_me: false, count: "twelve" }],
  ['public_key={"id":"x"}', { remember_me: false, public_key: { id: "x" } }],
  ["public_key={", { remember_me: false, public_key: "{" }],
  ["choice=2", { remember_me: false, choice: 2 }],
  ["choice=3", { remember_me: false, choice: "3" }],
  ["password=+12 ", { remember_me: false, password: " 12 " }],
  ["undeclared=1", { remember_me: false, undeclared: "1" }],
  ["flow=login&action=back&version=3&with_script=true", { remember_me: false }],
])("parses the form %s as %j", (form, expected) => {
  expect(read(form)).toEqual(expected);
});

test("A90 treats fields named like members of Object.prototype as plain data", () => {
  const entered = readForm(new URLSearchParams("__proto__=x&constructor=y&toString=z"), {});
  expect(Object.keys(entered)).toEqual(["__proto__", "constructor", "toString"]);
  expect(Object.getPrototypeOf(entered)).toBe(Object.prototype);
});

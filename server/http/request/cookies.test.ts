import { expect, test } from "vitest";
import { loadConfig } from "../../config/load.ts";
import type { Config } from "../../config/schema.ts";
import { cookieValues, formatCookie } from "./cookies.ts";

const config = (environment: Record<string, string> = {}): Config => loadConfig(environment, "/nowhere");

test("A39 reads every cookie of a name, in order", () => {
  expect(cookieValues("service=a; other=x; service=b;service=c", "service")).toEqual(["a", "b", "c"]);
});

test.each([
  [null, []],
  ["", []],
  ["services=a; xservice=b", []],
  ['service="a"', ["a"]],
  ["service=", [""]],
  ["service=a=b", ["a=b"]],
  ["service", []],
])("reads the Cookie header %j as %j", (header, values) => {
  expect(cookieValues(header, "service")).toEqual(values);
});

test("writes SameSite=Strict", () => {
  expect(formatCookie(config(), "a", "b", { sameSite: "strict", secure: true })).toBe(
    "a=b; Path=/; HttpOnly; Secure; SameSite=Strict",
  );
});

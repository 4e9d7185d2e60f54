import { expect, test } from "vitest";
import { loadConfig } from "../config/load.ts";
import type { Config } from "../config/schema.ts";
import { cookieValues, expiredSessionCookie, sessionCookie, setCookie } from "./cookies.ts";

const config = (environment: Record<string, string> = {}): Config => loadConfig(environment, "/nowhere");

test("A39 every cookie of a name is seen, in order", () => {
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
])("a Cookie header %j holds %j", (header, values) => {
  expect(cookieValues(header, "service")).toEqual(values);
});

test("the session cookie is HttpOnly and Lax for the whole host by default", () => {
  expect(sessionCookie(config(), "jwt", 43200)).toBe(
    "service=jwt; Path=/; Max-Age=43200; HttpOnly; SameSite=Lax",
  );
});

test("A40 without a lifetime the session cookie goes with the browser", () => {
  expect(sessionCookie(config(), "jwt", undefined)).toBe("service=jwt; Path=/; HttpOnly; SameSite=Lax");
});

test("the session cookie is Secure when the base address is https, with name, domain and SameSite as configured", () => {
  const cookie = sessionCookie(
    config({
      BASE_URL: "https://login.example.com",
      STILE_SESSION_COOKIE_NAME: "hanko",
      STILE_SESSION_COOKIE_DOMAIN: "example.com",
      STILE_SESSION_COOKIE_SAME_SITE: "none",
    }),
    "jwt",
    60,
  );
  expect(cookie).toBe("hanko=jwt; Path=/; Domain=example.com; Max-Age=60; HttpOnly; Secure; SameSite=None");
});

test("taking the session cookie back names the same path and domain", () => {
  const settings = { BASE_URL: "https://login.example.com", STILE_SESSION_COOKIE_DOMAIN: "example.com" };
  const cookie = expiredSessionCookie(config(settings));
  expect(cookie).toBe("service=; Path=/; Domain=example.com; Max-Age=0; HttpOnly; Secure; SameSite=Lax");
});

test("a strict cookie says so", () => {
  expect(setCookie(config(), "a", "b", { sameSite: "strict", secure: true })).toBe(
    "a=b; Path=/; HttpOnly; Secure; SameSite=Strict",
  );
});

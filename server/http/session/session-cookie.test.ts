import { describe, expect, test } from "vitest";
import { loadConfig } from "../../config/load.ts";
import type { Config } from "../../config/schema.ts";
import { expiredSessionCookies, sessionCookie } from "./session-cookie.ts";

const config = (environment: Record<string, string> = {}): Config => loadConfig(environment, "/nowhere");

describe("the session cookie", () => {
  test("is HttpOnly and SameSite=Lax for the whole host by default", () => {
    expect(sessionCookie(config(), "jwt", 43200)).toBe(
      "service=jwt; Path=/; Max-Age=43200; HttpOnly; SameSite=Lax",
    );
  });

  test("A40 lasts until the browser is closed if it has no lifetime", () => {
    expect(sessionCookie(config(), "jwt", undefined)).toBe("service=jwt; Path=/; HttpOnly; SameSite=Lax");
  });

  test("is Secure over https, with name, domain and SameSite as configured", () => {
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

  test("is removed under the same path and domain, and so is the one that is bound to the device", () => {
    const settings = { BASE_URL: "https://login.example.com", STILE_SESSION_COOKIE_DOMAIN: "example.com" };
    const removal = "; Path=/; Domain=example.com; Max-Age=0; HttpOnly; Secure; SameSite=Lax";
    expect(expiredSessionCookies(config(settings))).toEqual([
      `service=${removal}`,
      `service-bound=${removal}`,
    ]);
  });
});

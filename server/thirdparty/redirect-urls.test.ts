import { describe, expect, test } from "vitest";
import { loadConfig } from "../config/load.ts";
import { allowedReturnUrls, isOwnPage, parseReturnUrl, withError, withToken } from "./redirect-urls.ts";

const config = loadConfig({ BASE_URL: "https://login.example.com" }, "/nowhere");
const ofTenant = { ...config, base_url: "https://login.example.com/t/7" };

describe("isOwnPage", () => {
  test.each([
    ["https://login.example.com", true],
    ["https://login.example.com/account?x=1", true],
    ["https://login.example.com.evil.example/", false],
    ["https://login.example.com:8443/", false],
    ["http://login.example.com/", false],
    ["https://evil.example/", false],
  ])("A46 of %s is %s", (address, own) => {
    expect(isOwnPage(new URL(address), config)).toBe(own);
  });

  test.each([
    ["https://login.example.com/t/7", true],
    ["https://login.example.com/t/7/account", true],
    ["https://login.example.com/t/8", false],
    ["https://login.example.com/t/78", false],
    ["https://login.example.com/t/7/../8", false],
    ["https://login.example.com/", false],
  ])("A68 under the prefix of a tenant, of %s is %s", (address, own) => {
    expect(isOwnPage(new URL(address), ofTenant)).toBe(own);
  });
});

test("parseReturnUrl accepts listed addresses and the address for errors", () => {
  const listed = {
    ...config,
    third_party: {
      ...config.third_party,
      allowed_redirect_urls: ["https://app.example/*"],
      error_redirect_url: "https://app.example/sorry/error",
    },
  };
  const parse = (text: string) => parseReturnUrl(text, listed, allowedReturnUrls(listed))?.href;
  expect(parse("https://app.example/in")).toBe("https://app.example/in");
  expect(parse("https://app.example/sorry/error")).toBe("https://app.example/sorry/error");
  expect(parse("https://app.example/sorry/other")).toBeUndefined();
  expect(parse("https://app.example/in#x")).toBeUndefined();
});

test("an address loses the result parameters of an earlier sign-in", () => {
  const address = new URL("https://app.example/in?a=b&error=e&error_description=d&hanko_token=t&saml_hint=h");
  expect(withToken(address, "new")).toBe("https://app.example/in?a=b&hanko_token=new");
  expect(withError(address, "access_denied", "No & no.")).toBe(
    "https://app.example/in?a=b&error=access_denied&error_description=No+%26+no.",
  );
});

import { describe, expect, test } from "vitest";
import { loadConfig } from "../config/load.ts";
import { isKnownHost, isOwnMachine } from "./host.ts";

const config = loadConfig(
  { BASE_URL: "https://login.example.com", STILE_SERVER_HOSTS: "Sso.Example.com" },
  "/nowhere",
);

test.each([
  ["login.example.com", true],
  ["LOGIN.example.com:443", true],
  ["sso.example.com", true],
  ["localhost:3000", true],
  ["app.localhost", true],
  ["127.0.0.1:3000", true],
  ["[::1]:3000", true],
  ["stile:3000", true],
  [null, true],
  ["evil.example", false],
  ["login.example.com.evil.example", false],
  ["login.example.com@evil.example", false],
  ["login.example.com:1@evil.example", false],
  ["example.com", false],
])("A89 the host %s is answered: %s", (host, known) => {
  expect(isKnownHost(host, config)).toBe(known);
});

describe("this machine alone", () => {
  test.each([
    ["a local connection", { host: "localhost:3000" }, "127.0.0.1", true],
    ["by IPv6", { host: "[::1]:3000" }, "::1", true],
    ["through Next's own proxy", { host: "localhost", "x-forwarded-for": "::ffff:127.0.0.1" }, "::1", true],
    ["from elsewhere", { host: "localhost:3000" }, "192.0.2.1", false],
    [
      "through a proxy, from elsewhere",
      { host: "localhost", "x-forwarded-for": "192.0.2.1" },
      "127.0.0.1",
      false,
    ],
    ["through another kind of proxy", { host: "localhost", forwarded: "for=192.0.2.1" }, "127.0.0.1", false],
    ["under a name that was pointed here", { host: "evil.example" }, "127.0.0.1", false],
    ["without a name", {}, "127.0.0.1", false],
    ["nobody knows from where", { host: "localhost" }, "", false],
  ])("%s", (_, headers, peer, own) => {
    expect(isOwnMachine(new Headers(headers as Record<string, string>), peer)).toBe(own);
  });
});

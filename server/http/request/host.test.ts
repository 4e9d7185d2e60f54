import { describe, expect, test } from "vitest";
import { loadConfig } from "../../config/load.ts";
import { isKnownHost, isLocalRequest } from "./host.ts";

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
])("A89 isKnownHost(%j) is %s", (host, known) => {
  expect(isKnownHost(host, config)).toBe(known);
});

describe("isLocalRequest", () => {
  test.each([
    ["accepts a local connection", { host: "localhost:3000" }, "127.0.0.1", true],
    ["accepts a local connection by IPv6", { host: "[::1]:3000" }, "::1", true],
    [
      "accepts a connection through Next's proxy",
      { host: "localhost", "x-forwarded-for": "::ffff:127.0.0.1" },
      "::1",
      true,
    ],
    ["rejects a remote connection", { host: "localhost:3000" }, "192.0.2.1", false],
    [
      "rejects a remote client behind a local proxy",
      { host: "localhost", "x-forwarded-for": "192.0.2.1" },
      "127.0.0.1",
      false,
    ],
    [
      "rejects a proxy with the header Forwarded",
      { host: "localhost", forwarded: "for=192.0.2.1" },
      "127.0.0.1",
      false,
    ],
    ["rejects a host name that resolves to this machine", { host: "evil.example" }, "127.0.0.1", false],
    ["rejects a request without a host name", {}, "127.0.0.1", false],
    ["rejects an unknown address", { host: "localhost" }, "", false],
  ])("%s", (_, headers, peer, own) => {
    expect(isLocalRequest(new Headers(headers as Record<string, string>), peer)).toBe(own);
  });
});

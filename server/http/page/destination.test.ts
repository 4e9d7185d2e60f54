import { expect, test } from "vitest";
import { loadConfig } from "../../config/load.ts";
import type { Config } from "../../config/schema.ts";
import { askedAt, askedNow, destinationUrl, parseDestination, sharesSessionCookie } from "./destination.ts";

const config = (environment: Record<string, string> = {}): Config =>
  loadConfig(
    {
      BASE_URL: "https://login.example.com",
      STILE_HOSTED_ALLOWED_REDIRECT_URLS:
        "https://app.good.example/callback,https://login.example.com/welcome",
      ...environment,
    },
    "/nowhere",
  );

const challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

const parse = (parameters: Record<string, string>, environment: Record<string, string> = {}) =>
  parseDestination(new URLSearchParams(parameters), config(environment));

test("sends an application on another host a code for its challenge", () => {
  const asked = { redirect_to: "https://app.good.example/callback", code_challenge: challenge, state: "xyz" };
  expect(parse({ ...asked, code_challenge_method: "S256" })).toEqual({
    ok: true,
    destination: { to: "https://app.good.example/callback", codeChallenge: challenge, state: "xyz" },
  });
});

test("A228 what an application asks of a sign-in holds for ten minutes, its address for longer", () => {
  const asked = {
    redirect_to: "https://login.example.com/welcome",
    login_hint: "ada@example.com",
    acr_values: "urn:stile:mfa",
  };
  const parsed = parse(asked);
  if (!parsed.ok) throw new Error(parsed.message);
  const stored = askedAt(parsed.destination, 0);
  const all = { loginHint: "ada@example.com", classes: ["urn:stile:mfa"] };
  expect(askedNow(stored, 600_000)).toEqual(all);
  expect(askedNow(stored, 600_001)).toEqual({});
  expect(stored.to).toBe("https://login.example.com/welcome");
  // A cookie of a former version.
  expect(askedNow(parsed.destination, 600_001)).toEqual(all);
  expect(askedNow(null, 0)).toEqual({});
});

test("does not require a challenge of an application on the same host", () => {
  expect(parse({ redirect_to: "https://login.example.com/welcome" })).toEqual({
    ok: true,
    destination: { to: "https://login.example.com/welcome" },
  });
});

test.each([
  ["a challenge is missing", { redirect_to: "https://app.good.example/callback" }],
  [
    "the challenge is no S256 challenge",
    { redirect_to: "https://app.good.example/callback", code_challenge: "abc" },
  ],
  [
    "the method is plain",
    {
      redirect_to: "https://app.good.example/callback",
      code_challenge: challenge,
      code_challenge_method: "plain",
    },
  ],
  [
    "the state is endless",
    { redirect_to: "https://app.good.example/callback", code_challenge: challenge, state: "x".repeat(513) },
  ],
])("A47 rejects %s", (_, parameters) => {
  expect(parse(parameters).ok).toBe(false);
});

test("rejects a repeated parameter", () => {
  const query = new URLSearchParams([
    ["redirect_to", "https://login.example.com/welcome"],
    ["redirect_to", "https://login.example.com/welcome"],
  ]);
  expect(parseDestination(query, config()).ok).toBe(false);
});

test.each([
  "https://evil.example",
  "//evil.example",
  "/\\evil.example",
  "https:evil.example",
  "https:\\\\app.good.example\\callback",
  "https://app.good.example@evil.example/callback",
  "https://user@app.good.example/callback",
  "https://app.good.example.evil.example/callback",
  "javascript:alert(1)//https://app.good.example/callback",
  "data:text/html,hello",
  "https://app.good.example/call\nback",
  "https://app.good.example/\tcallback",
  " https://app.good.example/callback",
  "%2f%2fevil.example",
  "https://app.good.example/callback#x",
  "https://app.good.example/callback?next=//evil.example",
  "https://app.good.example/callback/",
  "https://app.good.example/callback/../x",
  "https://аpp.good.example/callback",
  "http://app.good.example/callback",
  "https://app.good.example:8443/callback",
  "/callback",
  "",
  `https://app.good.example/callback?${"x".repeat(3000)}`,
])("A46 rejects %.60s", (redirect_to) => {
  expect(parse({ redirect_to, code_challenge: challenge }).ok).toBe(false);
});

test.each([
  "HTTPS://APP.GOOD.EXAMPLE/callback",
  "https://app.good.example:443/callback",
  "https://app.good.example/./callback",
])("A46 accepts %s, another spelling of a listed address, and normalizes it", (redirect_to) => {
  const asked = parse({ redirect_to, code_challenge: challenge });
  expect(asked.ok && asked.destination.to).toBe("https://app.good.example/callback");
});

test.each([
  ["the same host", "https://login.example.com/x", {}, true],
  ["the same host on another port", "https://login.example.com:8443/x", {}, true],
  ["a sibling host", "https://app.example.com/x", {}, false],
  [
    "a sibling host under the cookie's domain",
    "https://app.example.com/x",
    { STILE_SESSION_COOKIE_DOMAIN: "example.com" },
    true,
  ],
  [
    "the cookie's domain itself",
    "https://example.com/x",
    { STILE_SESSION_COOKIE_DOMAIN: ".example.com" },
    true,
  ],
  [
    "a host with the same ending",
    "https://badexample.com/x",
    { STILE_SESSION_COOKIE_DOMAIN: "example.com" },
    false,
  ],
  ["plain http, which gets no Secure cookie", "http://login.example.com/x", {}, false],
  [
    "no cookie at all",
    "https://login.example.com/x",
    { STILE_SESSION_ENABLE_AUTH_TOKEN_HEADER: "true" },
    false,
  ],
])("tells whether an application receives the session cookie: %s", (_, address, environment, isShared) => {
  expect(sharesSessionCookie(new URL(address), config(environment))).toBe(isShared);
});

test("adds code and state to the query of the address and replaces parameters of these names", () => {
  const destination = {
    to: "https://app.good.example/cb?a=1&code=old",
    codeChallenge: challenge,
    state: "s&t",
  };
  expect(destinationUrl(destination, "c0de")).toBe("https://app.good.example/cb?a=1&code=c0de&state=s%26t");
  expect(destinationUrl({ to: "https://login.example.com/welcome" }, null)).toBe(
    "https://login.example.com/welcome",
  );
});

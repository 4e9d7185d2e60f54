import { describe, expect, test } from "vitest";
import { loadConfig } from "../config/load.ts";
import { flowData } from "./data.ts";
import { factsOf } from "./facts.ts";
import { mayAddCredential } from "./may-add-credential.ts";

const at = "2030-01-01T12:00:00.000Z";
const config = loadConfig({}, "/nowhere");
const nobody = factsOf("login", flowData.parse({}), null);

const may = (facts: object, data: object, settings: Record<string, string> = {}) =>
  mayAddCredential({
    data: flowData.parse(data),
    facts: { ...nobody, ...facts },
    config: Object.keys(settings).length > 0 ? loadConfig(settings, "/nowhere") : config,
  });

const password = { method: "password", at };

describe("whoever has a second factor", () => {
  const facts = { hasTotp: true, deviceTrusted: true };

  test.each([
    ["has shown nothing", []],
    ["has shown a password in a trusted browser", [password]],
    ["has shown a passkey that did not verify them", [{ method: "passkey", at, userVerified: false }]],
  ])("and %s adds nothing", (_what, factors) => {
    expect(may(facts, { factors })).toBe(false);
  });

  test.each([
    ["an authenticator app", [password, { method: "totp", at }]],
    ["a security key", [password, { method: "security_key", at }]],
    ["a phone", [password, { method: "authenticator", at }]],
    ["a recovery code", [password, { method: "recovery_code", at }]],
    ["a passkey that verified them", [{ method: "passkey", at, userVerified: true }]],
  ])("and has shown %s may", (_what, factors) => {
    expect(may(facts, { factors })).toBe(true);
  });

  test("and has only now set it up may", () => {
    expect(may(facts, { factors: [password], enrolled: true })).toBe(true);
  });
});

test("a phone is a second factor too, where phones are switched on", () => {
  const phones = { STILE_MFA_AUTHENTICATOR_ENABLED: "true" };
  const facts = { hasAuthenticator: true };
  expect(may(facts, { factors: [password] }, phones)).toBe(false);
  expect(may(facts, { factors: [password, { method: "authenticator", at }] }, phones)).toBe(true);
  expect(may(facts, { factors: [password] })).toBe(true);
});

test("whoever has none may, and so may whoever has one that does not count here", () => {
  expect(may({}, { factors: [password] })).toBe(true);
  const off = { STILE_MFA_ENABLED: "false" };
  expect(may({ hasTotp: true, hasSecurityKey: true }, { factors: [password] }, off)).toBe(true);
});

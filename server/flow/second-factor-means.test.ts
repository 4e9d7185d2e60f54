import { describe, expect, test } from "vitest";
import { loadConfig } from "../config/load.ts";
import { flowData } from "./data.ts";
import { assertionProof, canUseSecurityKeys } from "./second-factor-means.ts";

const nothing = { webauthn: false, conditionalMediation: false, platformAuthenticator: false };
const keys = { ...nothing, webauthn: true };
const everything = { webauthn: true, conditionalMediation: true, platformAuthenticator: true };
const attachment = (value: string) => ({ STILE_MFA_SECURITY_KEYS_AUTHENTICATOR_ATTACHMENT: value });

describe("a client can use security keys", () => {
  test.each([
    [{}, undefined, true],
    [{}, nothing, false],
    [{}, keys, true],
    [{}, everything, true],
    [attachment("platform"), undefined, true],
    [attachment("platform"), keys, false],
    [attachment("platform"), { ...everything, webauthn: false }, false],
    [attachment("platform"), everything, true],
    [attachment("no_preference"), keys, true],
    [{ STILE_MFA_ENABLED: "false" }, everything, false],
    [{ STILE_MFA_SECURITY_KEYS_ENABLED: "false" }, everything, false],
  ])("%j %j: %s", (settings, capabilities, can) => {
    expect(canUseSecurityKeys(capabilities, loadConfig(settings, "/nowhere"))).toBe(can);
  });
});

describe("an assertion proves", () => {
  const at = "2030-01-01T12:00:00.000Z";
  const proofAfter = (...methods: string[]) =>
    assertionProof(flowData.parse({ factors: methods.map((method) => ({ method, at })) }));

  test("who somebody is, where nothing was shown before", () => {
    expect(proofAfter()).toEqual({});
  });

  test.each(["password", "passcode", "third_party"])("a second factor, after a %s", (method) => {
    expect(proofAfter(method)).toEqual({ secondFactor: true, verified: false });
  });

  test("a second factor only if its user is verified, after nothing but a passkey", () => {
    expect(proofAfter("passkey")).toEqual({ secondFactor: true, verified: true });
    expect(proofAfter("passkey", "password")).toEqual({ secondFactor: true, verified: false });
  });
});

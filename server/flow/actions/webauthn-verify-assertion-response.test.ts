import { describe, expect, test } from "vitest";
import { flowData } from "../data.ts";
import { assertionProof } from "./webauthn-verify-assertion-response.ts";

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

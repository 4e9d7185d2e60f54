import { describe, expect, test } from "vitest";
import { flowData } from "../data.ts";
import { requiredProof } from "./webauthn-verify-assertion-response.ts";

describe("assertionProof", () => {
  const at = "2030-01-01T12:00:00.000Z";
  const proofAfter = (...methods: string[]) =>
    requiredProof(flowData.parse({ factors: methods.map((method) => ({ method, at })) }));

  test("requires no second factor before a first factor", () => {
    expect(proofAfter()).toEqual({});
  });

  test.each(["password", "passcode", "third_party"])("requires a second factor after a %s", (method) => {
    expect(proofAfter(method)).toEqual({ secondFactor: true, verified: false });
  });

  test("requires user verification after a passkey alone", () => {
    expect(proofAfter("passkey")).toEqual({ secondFactor: true, verified: true });
    expect(proofAfter("passkey", "password")).toEqual({ secondFactor: true, verified: false });
  });
});

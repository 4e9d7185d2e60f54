import { expect, test } from "vitest";
import { codeChallengeOf, codeChallengePattern, codeVerifierPattern, isVerifierOf } from "./pkce.ts";

// RFC 7636, appendix B
const verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
const challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

test("derives the challenge of RFC 7636", () => {
  expect(codeChallengeOf(verifier)).toBe(challenge);
  expect(challenge).toMatch(codeChallengePattern);
  expect("plain").not.toMatch(codeChallengePattern);
});

test("accepts only the verifier of a challenge", () => {
  expect(isVerifierOf(challenge, verifier)).toBe(true);
  expect(isVerifierOf(challenge, verifier.toLowerCase())).toBe(false);
  expect(isVerifierOf(codeChallengeOf("short"), "short")).toBe(false);
});

test("rejects the challenge as its own verifier, as the method plain would accept it", () => {
  expect(challenge).toMatch(codeVerifierPattern);
  expect(isVerifierOf(challenge, challenge)).toBe(false);
});

test.each(["v".repeat(42), "v".repeat(129), `${"v".repeat(42)}+`])("rejects the verifier %j", (malformed) => {
  expect(malformed).not.toMatch(codeVerifierPattern);
});

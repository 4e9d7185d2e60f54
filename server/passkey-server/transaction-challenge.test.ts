import { createHash } from "node:crypto";
import { assert, property, string, uint8Array } from "fast-check";
import { expect, test } from "vitest";
import { isChallengeOf, transactionChallenge } from "./transaction-challenge.ts";

const random = Buffer.alloc(32, 7);
const data = '{"amount":"10.00","to":"Grace"}';

test("A69 builds a challenge of 32 random bytes and the hash of id and data", () => {
  const challenge = transactionChallenge(random, "order-1", data);
  expect(challenge).toMatch(/^[A-Za-z0-9_-]{86}$/);
  const bytes = Buffer.from(challenge, "base64url");
  expect(bytes.subarray(0, 32)).toEqual(random);
  expect(bytes.subarray(32)).toEqual(createHash("sha256").update(`order-1${data}`).digest());
});

test("A69 accepts a challenge for its id and data only", () => {
  const challenge = transactionChallenge(random, "ördér-1", data);
  expect(isChallengeOf(challenge, "ördér-1", data)).toBe(true);
  expect(isChallengeOf(challenge, "ördér-2", data)).toBe(false);
  expect(isChallengeOf(challenge, "ördér-1", data.replace("10.00", "10.01"))).toBe(false);
  expect(isChallengeOf(challenge.slice(0, -1), "ördér-1", data)).toBe(false);
  expect(isChallengeOf(`${challenge}=`, "ördér-1", data)).toBe(false);
  expect(isChallengeOf(`${challenge}A`, "ördér-1", data)).toBe(false);
});

test("rejects a random half of another length", () => {
  expect(() => transactionChallenge(Buffer.alloc(31), "a", data)).toThrow(RangeError);
});

test("never throws for an invalid challenge", async () => {
  await assert(
    property(string({ unit: "binary" }), uint8Array(), (text, bytes) => {
      expect(isChallengeOf(text, "a", data)).toBe(false);
      expect(isChallengeOf(Buffer.from(bytes).toString("base64url"), "a", data)).toBe(false);
    }),
  );
});

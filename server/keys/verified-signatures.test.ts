import { generateKeyPairSync } from "node:crypto";
import { SignJWT } from "jose";
import { expect, test } from "vitest";
import { type Algorithm, type ExpectedToken, type SigningKey, signJwt, verifyJwt } from "./jwt.ts";
import { createVerifiedSignatures } from "./verified-signatures.ts";

const pairs = {
  RS256: generateKeyPairSync("rsa", { modulusLength: 2048 }),
  ES256: generateKeyPairSync("ec", { namedCurve: "P-256" }),
  EdDSA: generateKeyPairSync("ed25519"),
};
const keyOf = (algorithm: Algorithm): SigningKey => ({ id: "ours", algorithm, ...pairs[algorithm] });
const key = keyOf("EdDSA");

const now = new Date("2030-01-01T12:00:00.000Z");
const exp = now.getTime() / 1000 + 3600;
const claims = { aud: ["app.example"], sub: "ada", exp };
const expected: ExpectedToken = { typ: "JWT", audience: ["app.example"], now };
const cache = (limit?: number) =>
  createVerifiedSignatures({ ...(limit ? { limit } : {}), now: () => now.getTime() });

/** A token of the key whose signature is wrong: it passes only where the signature is not verified. */
const token = signJwt(key, "JWT", claims);
const forged = `${token.split(".").slice(0, 2).join(".")}.${Buffer.alloc(64, 1).toString("base64url")}`;

test.each(Object.keys(pairs) as Algorithm[])(
  "a token that jose signed with %s is remembered",
  async (alg) => {
    const seen = cache();
    const one = await new SignJWT(claims)
      .setProtectedHeader({ alg, typ: "JWT", kid: "ours" })
      .sign(pairs[alg].privateKey);
    expect(seen.has(one, pairs[alg].publicKey)).toBe(false);
    expect(verifyJwt(one, keyOf(alg), expected, seen)).toEqual(claims);
    expect(seen.has(one, pairs[alg].publicKey)).toBe(true);
    expect(verifyJwt(one, keyOf(alg), expected, seen)).toEqual(claims);
  },
);

test("a remembered signature is not verified again", () => {
  const seen = cache();
  seen.add(forged, key.publicKey, exp);
  expect(verifyJwt(forged, key, expected, seen)).toEqual(claims);
});

test("A62 a wrong signature is not remembered, and none is of another text", () => {
  const seen = cache();
  expect(verifyJwt(token, key, expected, seen)).toEqual(claims);
  for (let tries = 0; tries < 2; tries += 1) expect(verifyJwt(forged, key, expected, seen)).toBeNull();
  const [head = "", , signature = ""] = token.split(".");
  const other = Buffer.from(JSON.stringify({ ...claims, sub: "eve" })).toString("base64url");
  expect(verifyJwt(`${head}.${other}.${signature}`, key, expected, seen)).toBeNull();
  expect(verifyJwt(`${token}=`, key, expected, seen)).toBeNull();
});

test("A65 type, audience and times of a token with a remembered signature are checked each time", () => {
  const seen = cache();
  expect(verifyJwt(token, key, expected, seen)).toEqual(claims);
  const later = new Date((exp + 61) * 1000);
  for (const wrong of [{ typ: "receipt+jwt" }, { audience: ["other.example"] }, { now: later }])
    expect(verifyJwt(token, key, { ...expected, ...wrong }, seen)).toBeNull();
});

test("A66 a signature is remembered for the key that verified it, not for another of the same id", () => {
  const seen = cache();
  expect(verifyJwt(token, key, expected, seen)).toEqual(claims);
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  expect(verifyJwt(token, { ...key, publicKey, privateKey } as SigningKey, expected, seen)).toBeNull();
});

test("a signature is forgotten when its token expires", () => {
  let time = now.getTime();
  const seen = createVerifiedSignatures({ now: () => time });
  seen.add(token, key.publicKey, exp);
  expect(seen.has(token, key.publicKey)).toBe(true);
  time = exp * 1000;
  expect(seen.has(token, key.publicKey)).toBe(false);
  seen.add(token, key.publicKey, exp);
  time = now.getTime();
  expect(seen.has(token, key.publicKey)).toBe(false);
});

test("the number of remembered signatures is bounded, and the least recently used one goes first", () => {
  const seen = cache(2);
  const has = (text: string) => seen.has(text, key.publicKey);
  for (const text of ["one", "two"]) seen.add(text, key.publicKey, exp);
  expect(has("one")).toBe(true);
  seen.add("three", key.publicKey, exp);
  expect([has("one"), has("two"), has("three")]).toEqual([true, false, true]);
});

import { createPublicKey, generateKeyPairSync } from "node:crypto";
import { describe, expect, test } from "vitest";
import { smallOrderPoints } from "../testing/small-order-points.ts";
import { hasNoWeakEd25519Point, isSafeEd25519Point } from "./edwards25519.ts";

const pointOf = (key: { export(options: { format: "jwk" }): { x?: string } }) =>
  Buffer.from(key.export({ format: "jwk" }).x ?? "", "base64url");

const imported = (point: Buffer) =>
  createPublicKey({ format: "jwk", key: { kty: "OKP", crv: "Ed25519", x: point.toString("base64url") } });

test("accepts the keys that Node generates", () => {
  for (let index = 0; index < 20; index++) {
    const { publicKey } = generateKeyPairSync("ed25519");
    expect(isSafeEd25519Point(pointOf(publicKey))).toBe(true);
    expect(hasNoWeakEd25519Point(publicKey)).toBe(true);
  }
});

test("accepts the base point", () => {
  expect(isSafeEd25519Point(Buffer.from(`58${"66".repeat(31)}`, "hex"))).toBe(true);
});

test("accepts about half of all strings of 32 bytes, since the others are no points", () => {
  let points = 0;
  for (let seed = 0; seed < 100; seed++) {
    const bytes = Buffer.alloc(32, 7);
    bytes.writeUInt32LE(seed * 2_654_435, 0);
    if (isSafeEd25519Point(bytes)) points += 1;
  }
  expect(points).toBeGreaterThan(25);
  expect(points).toBeLessThan(75);
});

test.each([0, 1, 31, 33, 64])("rejects %i bytes", (length) => {
  expect(isSafeEd25519Point(Buffer.alloc(length, 0x58))).toBe(false);
});

describe("A132 a point of small order is rejected", () => {
  test.each(smallOrderPoints.map((point) => [point.toString("hex"), point] as const))("%s", (_, point) => {
    expect(isSafeEd25519Point(point)).toBe(false);
    expect(hasNoWeakEd25519Point(imported(point))).toBe(false);
  });
});

test("has no opinion on keys of other kinds", () => {
  const { publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  expect(hasNoWeakEd25519Point(publicKey)).toBe(true);
});

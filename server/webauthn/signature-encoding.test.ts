import { generateKeyPairSync, sign } from "node:crypto";
import { describe, expect, test } from "vitest";
import { hasCanonicalEncoding } from "./signature-encoding.ts";

const curves = [
  [-7, "P-256"],
  [-35, "P-384"],
  [-36, "P-521"],
] as const;

describe("a signature", () => {
  test.each(curves)("is canonical with algorithm %i and a key of %s", (algorithm, namedCurve) => {
    const { privateKey } = generateKeyPairSync("ec", { namedCurve });
    for (let count = 0; count < 200; count++)
      expect(hasCanonicalEncoding(algorithm, sign("sha256", Buffer.of(count), privateKey))).toBe(true);
  });

  test("may be any bytes with another algorithm", () => {
    for (const algorithm of [-257, -8, null])
      expect(hasCanonicalEncoding(algorithm, Buffer.of(1))).toBe(true);
    for (const nothing of [undefined, null, "3006", [0x30]])
      expect(hasCanonicalEncoding(-257, nothing)).toBe(false);
  });

  test.each([
    ["3006020101020101", true],
    ["3008020200ff02020080", true],
    ["", false],
    ["30", false],
    ["3006020101020101ff", false],
    ["3007020101020101", false],
    ["3005020101020101", false],
    ["308106020101020101", false],
    ["3106020101020101", false],
    ["3006030101020101", false],
    ["3006020101030101", false],
    ["30070202000102010f", false],
    ["30060201ff020101", false],
    ["3006020100020101", false],
    ["3006020101020100", false],
    ["3005020002010101", false],
    ["3009020101020101020101", false],
    ["3003020101", false],
    ["3006020101020181", false],
    ["30060201010282", false],
  ])("with the bytes %s is canonical: %s", (hex, expected) => {
    expect(hasCanonicalEncoding(-7, Buffer.from(hex, "hex"))).toBe(expected);
  });
});

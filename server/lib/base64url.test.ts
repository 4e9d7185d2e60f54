import fc from "fast-check";
import { expect, test } from "vitest";
import { decodeBase64url, decodePaddedBase64url } from "./base64url.ts";

const padded = (text: string) => text.padEnd(Math.ceil(text.length / 4) * 4, "=");

test("decodes the canonical text of any bytes, with and without padding", () => {
  fc.assert(
    fc.property(fc.uint8Array(), (bytes) => {
      const text = Buffer.from(bytes).toString("base64url");
      expect(decodeBase64url(text)).toEqual(Buffer.from(bytes));
      expect(decodePaddedBase64url(text)).toEqual(Buffer.from(bytes));
      expect(decodePaddedBase64url(padded(text))).toEqual(Buffer.from(bytes));
    }),
  );
});

test.each([
  "A",
  "AB",
  "AAB",
  "A A",
  " AA",
  "AA\n",
  "A+A",
  "A/A",
  "ÄA",
  "AA\u0000",
  "AA=",
  "AAAA=",
  "AAAAA===",
])("rejects %j", (text) => {
  expect(decodeBase64url(text)).toBeNull();
  expect(decodePaddedBase64url(text)).toBeNull();
});

test.each(["AA==", "AAA="])("accepts %j where padding is allowed", (text) => {
  expect(decodeBase64url(text)).toBeNull();
  expect(decodePaddedBase64url(text)).not.toBeNull();
});

test("accepts only the canonical text", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      const bytes = decodeBase64url(text);
      if (bytes) expect(bytes.toString("base64url")).toBe(text);
    }),
  );
});

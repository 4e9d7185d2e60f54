import { expect, test } from "vitest";
import { sha256 } from "./sha256.ts";

// FIPS 180-2, B.1
test("returns the same hash for a text and its UTF-8 bytes", () => {
  const digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
  expect(sha256("abc").toString("hex")).toBe(digest);
  expect(sha256(Buffer.from("abc")).toString("hex")).toBe(digest);
  expect(sha256("ä")).toEqual(sha256(Buffer.of(0xc3, 0xa4)));
});

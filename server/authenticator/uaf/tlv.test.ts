import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { encodeTlv, nestedTlv } from "../../testing/uaf-authenticator/tlv.ts";
import { parseTlv, TlvError } from "./tlv.ts";

const hex = (text: string) => Buffer.from(text, "hex");
const uint16 = fc.integer({ min: 0, max: 0xffff });
const items = fc.array(fc.record({ tag: uint16, value: fc.uint8Array({ maxLength: 300 }) }), {
  maxLength: 8,
});

test("reads items as they were written, with their headers", () => {
  fc.assert(
    fc.property(items, (written) => {
      const read = parseTlv(encodeTlv(...written));
      expect(read.map(({ tag }) => tag)).toEqual(written.map(({ tag }) => tag));
      expect(read.map(({ value }) => value)).toEqual(written.map(({ value }) => Buffer.from(value)));
      expect(Buffer.concat(read.map(({ whole }) => whole))).toEqual(encodeTlv(...written));
    }),
  );
});

test("rejects items that are truncated within an item", () => {
  fc.assert(
    fc.property(items, fc.nat(), (written, at) => {
      const bytes = encodeTlv(...written);
      const between = written.map((_, count) => encodeTlv(...written.slice(0, count)).length);
      const end = at % (bytes.length + 1);
      const read = () => parseTlv(bytes.subarray(0, end));
      const whole = [...between, bytes.length].indexOf(end);
      if (whole >= 0) expect(read()).toHaveLength(whole);
      else expect(read).toThrow(TlvError);
    }),
  );
});

test("reads little-endian numbers", () => {
  expect(parseTlv(hex("0b2e030041424307ff0000"))).toMatchObject([
    { tag: 0x2e0b, value: Buffer.from("ABC") },
    { tag: 0xff07, value: Buffer.alloc(0) },
  ]);
});

describe("rejects", () => {
  test.each([
    ["half of a header", "0b2e"],
    ["a header without its last byte", "0b2e03"],
    ["a value that is too short", "0b2e03004142"],
    ["a length beyond the input", "0b2effff414243"],
    ["a big-endian length", "0b2e0003414243"],
    ["a byte after the last item", "0b2e030041424300"],
  ])("A75 %s", (_what, text) => {
    expect(() => parseTlv(hex(text))).toThrow(TlvError);
  });
});

test("A75 reads only the first of ten thousand levels", () => {
  const read = parseTlv(nestedTlv(10_000));
  expect(read).toHaveLength(1);
  expect(read[0]?.value).toHaveLength(4 * 9_999);
});

test("any bytes are items or throw a TlvError", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
      try {
        expect(Buffer.concat(parseTlv(Buffer.from(bytes)).map(({ whole }) => whole))).toEqual(
          Buffer.from(bytes),
        );
      } catch (error) {
        expect(error).toBeInstanceOf(TlvError);
      }
    }),
    { numRuns: 2000 },
  );
});

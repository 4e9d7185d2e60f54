import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { encodeTlv, nestedTlv } from "../../dev/uaf-authenticator/tlv.ts";
import { parseTlv, TlvError } from "./tlv.ts";

const hex = (text: string) => Buffer.from(text, "hex");
const uint16 = fc.integer({ min: 0, max: 0xffff });
const items = fc.array(fc.record({ tag: uint16, value: fc.uint8Array({ maxLength: 300 }) }), {
  maxLength: 8,
});

test("items are read as they were written, heads and all", () => {
  fc.assert(
    fc.property(items, (written) => {
      const read = parseTlv(encodeTlv(...written));
      expect(read.map(({ tag }) => tag)).toEqual(written.map(({ tag }) => tag));
      expect(read.map(({ value }) => value)).toEqual(written.map(({ value }) => Buffer.from(value)));
      expect(Buffer.concat(read.map(({ whole }) => whole))).toEqual(encodeTlv(...written));
    }),
  );
});

test("items that are cut short anywhere but between two are none", () => {
  fc.assert(
    fc.property(items, fc.nat(), (written, at) => {
      const bytes = encodeTlv(...written);
      const between = written.map((_, count) => encodeTlv(...written.slice(0, count)).length);
      const end = at % (bytes.length + 1);
      const read = () => parseTlv(bytes.subarray(0, end));
      if (end === bytes.length || between.includes(end)) expect(read()).toBeDefined();
      else expect(read).toThrow(TlvError);
    }),
  );
});

test("the low byte comes first", () => {
  expect(parseTlv(hex("0b2e030041424307ff0000"))).toMatchObject([
    { tag: 0x2e0b, value: Buffer.from("ABC") },
    { tag: 0xff07, value: Buffer.alloc(0) },
  ]);
});

describe("refused is", () => {
  test.each([
    ["half a head", "0b2e"],
    ["a head without its last byte", "0b2e03"],
    ["a value that is too short", "0b2e03004142"],
    ["a length beyond everything", "0b2effff414243"],
    ["a length in the other order", "0b2e0003414243"],
    ["a byte behind the last item", "0b2e030041424300"],
  ])("A75 %s", (_what, text) => {
    expect(() => parseTlv(hex(text))).toThrow(TlvError);
  });
});

test("A75 of ten thousand levels the first alone is read", () => {
  const read = parseTlv(nestedTlv(10_000));
  expect(read).toHaveLength(1);
  expect(read[0]?.value).toHaveLength(4 * 9_999);
});

test("whatever the bytes, they are items or there is a TlvError", () => {
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

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { DerError, derItem, derItems } from "./der.ts";
import { boolean, der, integer, objectId, octetString, sequence, tagged } from "./der-encoding.ts";

test("splits bytes into items without decoding their content", () => {
  const inner = sequence(integer(2), boolean(true));
  expect(derItems(Buffer.concat([inner, octetString(Buffer.from("x"))]))).toEqual([
    { tagClass: "universal", tag: 16, content: Buffer.from("0201020101ff", "hex") },
    { tagClass: "universal", tag: 4, content: Buffer.from("x") },
  ]);
  expect(derItems(Buffer.alloc(0))).toEqual([]);
});

test.each([0, 1, 30, 31, 127, 128, 600, 702])("reads the context-specific tag %i", (tag) => {
  expect(derItem(tagged(tag, integer(0)))).toEqual({
    tagClass: "context",
    tag,
    content: Buffer.from("020100", "hex"),
  });
});

test.each([0, 1, 127, 128, 255, 256, 40_000])("reads a content of %i bytes", (length) => {
  expect(derItem(octetString(Buffer.alloc(length, 7))).content).toEqual(Buffer.alloc(length, 7));
});

test("reads an object identifier", () => {
  expect(derItem(objectId("1.2.840.113635.100.8.2")).content.toString("hex")).toBe("2a864886f763640802");
  expect(derItem(objectId("1.3.6.1.4.1.11129.2.1.17")).content.toString("hex")).toBe("2b06010401d679020111");
});

describe("derItems and derItem", () => {
  test.each([
    ["rejects a truncated item", "0402ff"],
    ["rejects a truncated header", "04"],
    ["rejects a truncated length", "0482ff"],
    ["rejects an indefinite length", "308002010000"],
    ["rejects a length of four octets", "048400000001ff"],
    ["rejects a tag that is too high", "bfffffffff"],
    ["rejects a truncated tag", "bf"],
  ])("%s", (_what, hex) => {
    expect(() => derItems(Buffer.from(hex, "hex"))).toThrow(DerError);
  });

  test("rejects an empty input or two items if one is expected", () => {
    expect(() => derItem(Buffer.alloc(0))).toThrow(DerError);
    expect(() => derItem(Buffer.concat([integer(1), integer(1)]))).toThrow(DerError);
  });
});

test("returns items or throws DerError for random bytes", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 80 }), (bytes) => {
      try {
        const read = derItems(bytes).reduce((sum, { content }) => sum + content.length, 0);
        expect(read).toBeLessThanOrEqual(bytes.length);
      } catch (error) {
        expect(error).toBeInstanceOf(DerError);
      }
    }),
    { numRuns: 2000 },
  );
  expect(derItems(der(0x30))).toHaveLength(1);
});

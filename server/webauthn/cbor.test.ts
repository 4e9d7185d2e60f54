import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Cbor, encodeCbor } from "../testing/cbor.ts";
import { CborError, cborItemLength, readIntegerMap } from "./cbor.ts";

const hex = (text: string) => Buffer.from(text, "hex");

const items: fc.Arbitrary<Cbor> = fc.letrec<{ item: Cbor }>((tie) => ({
  item: fc.oneof(
    { maxDepth: 4, depthIdentifier: "item" },
    fc.integer({ min: -(2 ** 40), max: 2 ** 40 }),
    fc.string(),
    fc.boolean(),
    fc.uint8Array({ maxLength: 400 }),
    fc.array(tie("item"), { maxLength: 4, depthIdentifier: "item" }),
    fc
      .uniqueArray(fc.tuple(fc.oneof(fc.string(), fc.integer()), tie("item")), {
        maxLength: 4,
        selector: ([key]) => key,
        depthIdentifier: "item",
      })
      .map((pairs) => new Map(pairs)),
  ),
})).item;

test("returns the length of an item, with or without bytes after it", () => {
  fc.assert(
    fc.property(items, fc.uint8Array({ maxLength: 5 }), (item, rest) => {
      const encoded = encodeCbor(item);
      expect(cborItemLength(Buffer.concat([encoded, rest]))).toBe(encoded.length);
    }),
  );
});

test("rejects a truncated item", () => {
  fc.assert(
    fc.property(items, fc.nat(), (item, at) => {
      const encoded = encodeCbor(item);
      expect(() => cborItemLength(encoded.subarray(0, at % encoded.length))).toThrow(CborError);
    }),
  );
});

test("skips floats, tags and simple values", () => {
  for (const text of ["f6", "f97e00", "fa47c35000", "fb3ff199999999999a", "f8ff", "c11a514b67b0"]) {
    expect(cborItemLength(hex(text))).toBe(text.length / 2);
  }
});

describe("cborItemLength", () => {
  test.each([
    ["rejects indefinite lengths", "5f4101ff"],
    ["rejects indefinite maps", "bf6161f5ff"],
    ["rejects reserved lengths", "1c"],
    ["rejects strings longer than the input", "58ff00"],
    ["rejects strings of astronomical length", "5bffffffffffffffff00"],
    ["rejects arrays of astronomical length", "9bffffffffffffffff00"],
    ["rejects maps without a last value", "a20102"],
    ["rejects an empty input", ""],
  ])("%s", (_what, text) => {
    expect(() => cborItemLength(hex(text))).toThrow(CborError);
  });

  test.each([
    ["arrays", 0x81],
    ["tags", 0xc1],
  ])("A91 rejects %s nested 100,000 levels deep", (_what, byte) => {
    expect(() => cborItemLength(Buffer.alloc(100_000, byte))).toThrow("too deep");
  });
});

test("returns a length within the input or throws CborError for random bytes", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
      try {
        const length = cborItemLength(bytes);
        expect(length).toBeGreaterThan(0);
        expect(length).toBeLessThanOrEqual(bytes.length);
      } catch (error) {
        expect(error).toBeInstanceOf(CborError);
      }
    }),
    { numRuns: 2000 },
  );
});

describe("readIntegerMap", () => {
  const values = fc.oneof(fc.integer({ min: -(2 ** 40), max: 2 ** 40 }), fc.uint8Array({ maxLength: 300 }));
  const maps = fc
    .uniqueArray(fc.tuple(fc.oneof(fc.integer(), fc.integer({ min: -30, max: 30 })), values), {
      selector: ([label]) => label,
      maxLength: 30,
    })
    .map((members) => new Map(members));

  test("reads a canonical map", () => {
    fc.assert(
      fc.property(maps, (map) => {
        const read = readIntegerMap(encodeCbor(map));
        expect(read?.size).toBe(map.size);
        for (const [label, value] of map) {
          const expected = typeof value === "number" ? value : Buffer.from(value);
          expect(read?.get(label)).toEqual(expected);
        }
      }),
    );
  });

  test("A144 reads no bytes but those of a map in its shortest form", () => {
    const mostly = fc.oneof(
      fc.uint8Array({ maxLength: 12 }).map((bytes) => Buffer.from(bytes)),
      fc.uint8Array({ maxLength: 12 }).map((bytes) => Buffer.concat([hex("a2"), bytes])),
      fc.tuple(maps, fc.nat(), fc.nat()).map(([map, at, byte]) => {
        const bytes = encodeCbor(map);
        bytes[at % bytes.length] = byte;
        return bytes;
      }),
    );
    fc.assert(
      fc.property(mostly, (bytes) => {
        const read = readIntegerMap(bytes);
        if (read) {
          const written = encodeCbor(read);
          expect(written).toHaveLength(bytes.length);
          expect(readIntegerMap(written)).toEqual(read);
        }
        expect(read === null || read instanceof Map).toBe(true);
      }),
      { numRuns: 5000 },
    );
  });
});

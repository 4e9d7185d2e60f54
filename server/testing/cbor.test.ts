import { expect, test } from "vitest";
import { type Cbor, encodeCbor } from "./cbor.ts";

// The examples of RFC 8949, appendix A.
test.each<[Cbor, string]>([
  [0, "00"],
  [23, "17"],
  [24, "1818"],
  [100, "1864"],
  [1000, "1903e8"],
  [1_000_000, "1a000f4240"],
  [1_000_000_000_000, "1b000000e8d4a51000"],
  [-1, "20"],
  [-100, "3863"],
  [-1000, "3903e7"],
  [false, "f4"],
  [true, "f5"],
  ["", "60"],
  ["IETF", "6449455446"],
  ["\u6c34", "63e6b0b4"],
  [Buffer.from("01020304", "hex"), "4401020304"],
  [[1, [2, 3], [4, 5]], "8301820203820405"],
  [new Map(), "a0"],
])("encodes %j as in RFC 8949 appendix A", (value, hex) => {
  expect(encodeCbor(value).toString("hex")).toBe(hex);
});

test("sorts map keys in the canonical order of CTAP", () => {
  const map = new Map<number | string, Cbor>([
    ["authData", 1],
    ["fmt", 2],
    [-1, 3],
    [3, 4],
    ["attStmt", 5],
    [1, 6],
  ]);
  expect(encodeCbor(map).toString("hex")).toBe(
    "a6" + "0106" + "0304" + "2003" + "63666d7402" + "6761747453746d7405" + "68617574684461746101",
  );
});

test("rejects a fraction", () => {
  expect(() => encodeCbor(1.5)).toThrow(TypeError);
});

import { expect, test } from "vitest";
import { acceptedEncoding } from "./content-encoding.ts";

test.each([
  ["gzip, deflate, br, zstd", "br"],
  ["gzip", "gzip"],
  ["gzip;q=1.0, br;q=0", "gzip"],
  ["br;q=0.000, *", "gzip"],
  ["*", "br"],
  ["*;q=0", null],
  ["GZIP ; q=0.5", "gzip"],
  ["identity", null],
  ["brotli", null],
  ["", null],
  [null, null],
])("of %s, it selects %s", (header, encoding) => {
  expect(acceptedEncoding(header)).toBe(encoding);
});

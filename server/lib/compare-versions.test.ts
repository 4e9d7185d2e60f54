import { expect, test } from "vitest";
import { compareVersions } from "./compare-versions.ts";

test("orders versions as the specification does", () => {
  const ordered = [
    "0.2.0",
    "0.2.10",
    "0.10.0",
    "1.0.0-alpha",
    "1.0.0-alpha.1",
    "1.0.0-alpha.beta",
    "1.0.0-beta",
    "1.0.0-beta.2",
    "1.0.0-beta.11",
    "1.0.0-rc.1",
    "1.0.0",
    "2.0.0",
  ];
  expect(ordered.toReversed().toSorted(compareVersions)).toEqual(ordered);
});

test("ignores build metadata", () => {
  expect(compareVersions("0.3.0+a", "0.3.0+b")).toBe(0);
});

test.each(["", "1", "1.2", "v1.2.3", "1.2.3-", "1.2.x"])("refuses %j", (text) => {
  expect(() => compareVersions(text, "1.0.0")).toThrow(RangeError);
});

import { expect, test } from "vitest";
import { mergePatch } from "#server/identity/metadata";
import { hasNullMember, mergePatchBetween } from "./merge-patch.ts";

const cases: [object: Record<string, unknown>, other: Record<string, unknown>, Record<string, unknown>][] = [
  [{ a: 1 }, { a: 1 }, {}],
  [{ a: 1 }, { a: 2 }, { a: 2 }],
  [{ a: 1, b: 2 }, { b: 2 }, { a: null }],
  [{}, { a: { b: [1, null] } }, { a: { b: [1, null] } }],
  [{ a: { b: 1, c: 2 } }, { a: { b: 1 } }, { a: { c: null } }],
  [{ a: [1, 2] }, { a: [1] }, { a: [1] }],
  [{ a: { b: 1 } }, { a: [] }, { a: [] }],
  [{ a: 1 }, { a: { b: 1 } }, { a: { b: 1 } }],
];

test.each(cases)("a patch makes of %j what it was made for, %j", (before, after, patch) => {
  expect(mergePatchBetween(before, after)).toEqual(patch);
  expect(mergePatch(before, patch)).toEqual(after);
});

test("null is found as a member of objects alone", () => {
  expect(hasNullMember({ a: { b: null } })).toBe(true);
  expect(hasNullMember({ a: [null] })).toBe(false);
});

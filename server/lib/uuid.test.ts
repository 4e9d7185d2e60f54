import { randomUUID } from "node:crypto";
import { afterEach, expect, test, vi } from "vitest";
import { isCanonicalUuid, isUuid, timeOrderedUuid } from "./uuid.ts";

afterEach(() => {
  vi.useRealTimers();
});

const id = randomUUID();

test.each([
  [id, true, true],
  ["00000000-0000-0000-0000-000000000000", true, true],
  ["F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6", true, false],
  [`{${id}}`, false, false],
  [` ${id}`, false, false],
  [`${id}\n`, false, false],
  [id.replaceAll("-", ""), false, false],
  [id.replace(/^./, "g"), false, false],
  // The Kelvin sign becomes the ASCII letter k in lower case.
  [id.replace(/^./, "\u212a"), false, false],
  ["", false, false],
])("checks %j: a UUID %j, canonical %j", (text, uuid, canonical) => {
  expect([isUuid(text), isCanonicalUuid(text)]).toEqual([uuid, canonical]);
});

test("a time-ordered UUID is one of version 7, with the time and random bits", () => {
  vi.useFakeTimers({ now: 0x017f22e279b0 });
  // The example of RFC 9562, appendix A.6.
  const uuid = () => "00000000-0000-4cc3-98c4-dc0c0c07398f";
  expect(timeOrderedUuid({ uuid, clockShift: () => 0 })).toBe("017f22e2-79b0-7cc3-98c4-dc0c0c07398f");
});

test("time-ordered UUIDs are canonical, different, and in the order of time", () => {
  vi.useFakeTimers({ now: 1 });
  const first = timeOrderedUuid({ uuid: randomUUID, clockShift: () => 0 });
  expect(timeOrderedUuid({ uuid: randomUUID, clockShift: () => 0 })).not.toBe(first);
  const ids = [first];
  for (const now of [0xffff, 0x1_0000, 0xffff_ffff, Date.UTC(2026), Date.UTC(9999)]) {
    vi.setSystemTime(now);
    ids.push(timeOrderedUuid({ uuid: randomUUID, clockShift: () => 0 }));
  }
  expect(ids.every(isCanonicalUuid)).toBe(true);
  expect(ids.toSorted()).toEqual(ids);
});

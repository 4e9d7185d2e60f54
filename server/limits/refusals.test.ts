import { describe, expect, test } from "vitest";
import { createRefusals } from "./refusals.ts";

const minute = 60_000;

/** Refusals of which some of one client have been recorded. */
function recorded(times: number, until = minute) {
  const refusals = createRefusals();
  for (let count = 0; count < times; count += 1) refusals.record("a", until);
  return refusals;
}

describe("requests of a client that goes on", () => {
  test("are left to the database until ten of them were refused", () => {
    expect(recorded(9).until("a", 0)).toBeNull();
    expect(recorded(10).until("a", 0)).toBe(minute);
  });

  test("are refused until the limit starts anew, and counted from one after that", () => {
    const refusals = recorded(10);
    expect(refusals.until("a", minute - 1)).toBe(minute);
    expect(refusals.until("a", minute)).toBeNull();
    refusals.record("a", 2 * minute);
    expect(refusals.until("a", minute)).toBeNull();
  });

  test("are refused apart from those of others", () => {
    expect(recorded(10).until("b", 0)).toBeNull();
  });

  test("are left to the database again if too many clients go on", () => {
    const refusals = recorded(10);
    for (let other = 0; other < 10_000; other += 1) refusals.record(`other ${other}`, minute);
    expect(refusals.until("a", 0)).toBeNull();
  });
});

test("the first refusal of each kind until the limit starts anew is told", () => {
  const refusals = createRefusals();
  const told = (until: number, what?: string) => refusals.record("a", until, what);
  expect([told(minute), told(minute), told(minute, "totp"), told(minute, "totp")]).toEqual([
    true,
    false,
    true,
    false,
  ]);
  expect([told(2 * minute, "totp"), told(2 * minute, "totp")]).toEqual([true, false]);
});

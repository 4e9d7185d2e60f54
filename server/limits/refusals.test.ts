import { describe, expect, test } from "vitest";
import { createRefusals } from "./refusals.ts";

const minute = 60_000;

/** Refusals of which one counter has been recorded some times. */
function recorded(times: number, until = minute) {
  const refusals = createRefusals();
  for (let count = 0; count < times; count += 1) refusals.record("a", until);
  return refusals;
}

describe("requests that a counter limits", () => {
  test("are left to the database until ten of them were refused", () => {
    expect(recorded(9).until(["a"], 0)).toBeNull();
    expect(recorded(10).until(["a"], 0)).toBe(minute);
  });

  test("are refused until the counter starts anew, and counted from one after that", () => {
    const refusals = recorded(10);
    expect(refusals.until(["a"], minute - 1)).toBe(minute);
    expect(refusals.until(["a"], minute)).toBeNull();
    refusals.record("a", 2 * minute);
    expect(refusals.until(["a"], minute)).toBeNull();
  });

  test("are refused if any of their counters is used up", () => {
    const refusals = recorded(10);
    expect(refusals.until(["b"], 0)).toBeNull();
    expect(refusals.until(["b", "a"], 0)).toBe(minute);
  });

  test("are left to the database again if too many counters are used up", () => {
    const refusals = recorded(10);
    for (let other = 0; other < 10_000; other += 1) refusals.record(`other ${other}`, minute);
    expect(refusals.until(["a"], 0)).toBeNull();
  });
});

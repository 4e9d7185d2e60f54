import { describe, expect, test } from "vitest";
import { type HourCounts, oddHours } from "./odd-hours.ts";

const HOUR_MS = 3_600_000;
const start = Date.parse("2026-11-01T00:00:00.000Z");
const at = (hour: number) => new Date(start + hour * HOUR_MS).toISOString();

/** Nine days of which each hour has the same counts. */
const steady = (): HourCounts[] =>
  Array.from({ length: 9 * 24 }, (_, hour) => ({ at: at(hour), sign_ins: 100, failures: 4 }));

/** The ninth day, and the end of it. */
const range = { from: at(8 * 24), to: at(9 * 24) };
const end = new Date(range.to);

describe("the hours of a day", () => {
  test("are not odd where each day is as the others, and numbers differ by chance", () => {
    const days = steady().map((hour, index) => ({ ...hour, sign_ins: 100 + ((index * 7) % 19) }));
    expect(oddHours(days, range, end)).toEqual([]);
  });

  test("are odd where few sign in, or many fail", () => {
    const days = steady();
    days[8 * 24 + 3] = { at: at(8 * 24 + 3), sign_ins: 20, failures: 4 };
    days[8 * 24 + 5] = { at: at(8 * 24 + 5), sign_ins: 100, failures: 60 };
    expect(oddHours(days, range, end)).toEqual([
      { at: at(8 * 24 + 3), measure: "sign_ins", count: 20, usual: 100 },
      { at: at(8 * 24 + 5), measure: "failures", count: 60, usual: 4 },
    ]);
  });

  test("are odd where nothing was counted, and the hour that is not over cannot be too low", () => {
    const days = steady().slice(0, 8 * 24 + 6);
    const now = new Date(start + (8 * 24 + 7.5) * HOUR_MS);
    expect(oddHours(days, range, now).map((hour) => hour.at)).toEqual([at(8 * 24 + 6)]);
  });

  test("are not odd in the first days of a service", () => {
    const days = steady().slice(6 * 24);
    expect(oddHours(days, range, end)).toEqual([]);
  });
});

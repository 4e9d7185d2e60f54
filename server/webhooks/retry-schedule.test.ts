import { expect, test } from "vitest";
import { pauseAfter } from "./retry-schedule.ts";

test("a receiver that asks for a pause gets no shorter one than the schedule's, and three hours at most", () => {
  expect(pauseAfter(1, 0, 0)).toBe(5);
  expect(pauseAfter(1, 60, 0)).toBe(60);
  expect(pauseAfter(3, 60, 0)).toBe(120);
  expect(pauseAfter(1, 999_999_999, 0)).toBe(10_800);
  expect(pauseAfter(8, 999_999_999, 0)).toBe(21_600);
  expect(pauseAfter(11, 60, 0)).toBeNull();
});

import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { startDeadline } from "./deadline.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("the signal aborts with a TimeoutError when the time is over", () => {
  const { signal } = startDeadline(1_000);
  vi.advanceTimersByTime(999);
  expect(signal.aborted).toBe(false);
  vi.advanceTimersByTime(1);
  expect(signal.reason).toMatchObject({ name: "TimeoutError" });
});

test("the signal of work that was in time does not abort, and no timer is left", () => {
  const { signal, end } = startDeadline(1_000);
  end();
  expect(vi.getTimerCount()).toBe(0);
  vi.advanceTimersByTime(2_000);
  expect(signal.aborted).toBe(false);
});

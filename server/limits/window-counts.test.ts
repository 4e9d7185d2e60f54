import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createWindowCounts } from "./window-counts.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test("a window begins with the first count of its key and does not move", () => {
  const counts = createWindowCounts(60);
  expect(counts.count("one")).toEqual({ count: 1, endsInMs: 60_000 });
  vi.advanceTimersByTime(59_999);
  expect(counts.count("one")).toEqual({ count: 2, endsInMs: 1 });
  expect(counts.count("other")).toEqual({ count: 1, endsInMs: 60_000 });
  vi.advanceTimersByTime(1);
  expect(counts.count("one")).toEqual({ count: 1, endsInMs: 60_000 });
  expect(counts.count("other")).toEqual({ count: 2, endsInMs: 59_999 });
});

test("a count that is set has a window of its own length", () => {
  const counts = createWindowCounts(60);
  counts.count("one");
  counts.set("one", 10, 5);
  expect(counts.count("one")).toEqual({ count: 11, endsInMs: 5_000 });
  vi.advanceTimersByTime(5_000);
  expect(counts.count("one")).toEqual({ count: 1, endsInMs: 60_000 });
});

test("a window is read without being counted", () => {
  const counts = createWindowCounts(60);
  expect(counts.present("one")).toEqual({ count: 0, endsInMs: 0 });
  counts.count("one");
  vi.advanceTimersByTime(1_000);
  expect(counts.present("one")).toEqual({ count: 1, endsInMs: 59_000 });
  expect(counts.count("one")).toEqual({ count: 2, endsInMs: 59_000 });
  vi.advanceTimersByTime(59_000);
  expect(counts.present("one")).toEqual({ count: 0, endsInMs: 0 });
});

test("windows that have ended leave the memory once others begin", () => {
  const counts = createWindowCounts(60);
  for (let key = 0; key < 100; key++) counts.count(`${key}`);
  vi.advanceTimersByTime(30_000);
  counts.count("later");
  expect(counts.size).toBe(101);
  vi.advanceTimersByTime(30_000);
  counts.count("new");
  expect(counts.size).toBe(2);
});

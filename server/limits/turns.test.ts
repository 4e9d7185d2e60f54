import { afterEach, expect, test, vi } from "vitest";
import { createTurns } from "./turns.ts";

const limits = { running: 2, waiting: 3 };
afterEach(() => vi.useRealTimers());

test("two run at once, three wait, and more are refused", async () => {
  const turns = createTurns({ enabled: true });
  const order: string[] = [];
  const taken = Array.from({ length: 7 }, async (_, index) => {
    const end = await turns.take("account", limits);
    order.push(`${index} ${end ? "runs" : "is refused"}`);
    return end;
  });
  await Promise.all([taken[0], taken[1], taken[5], taken[6]]);
  expect(order.toSorted()).toEqual(["0 runs", "1 runs", "5 is refused", "6 is refused"]);
  for (const turn of taken.slice(0, 5)) (await turn)?.();
  expect(order.slice(4)).toEqual(["2 runs", "3 runs", "4 runs"]);
  const [one, two] = [await turns.take("account", limits), await turns.take("account", limits)];
  expect([one, two]).toEqual([expect.any(Function), expect.any(Function)]);
});

test("subjects do not wait for each other", async () => {
  const turns = createTurns({ enabled: true });
  await turns.take("one", { running: 1, waiting: 0 });
  expect(await turns.take("one", { running: 1, waiting: 0 })).toBeNull();
  expect(await turns.take("other", { running: 1, waiting: 0 })).not.toBeNull();
});

test("ending a turn twice frees one place", async () => {
  const turns = createTurns({ enabled: true });
  const [one] = [await turns.take("a", limits), await turns.take("a", limits)];
  one?.();
  one?.();
  expect(await turns.take("a", limits)).not.toBeNull();
  expect(await turns.take("a", { running: 2, waiting: 0 })).toBeNull();
});

test("ending a turn again, when another one has begun, frees no place", async () => {
  const turns = createTurns({ enabled: true });
  const single = { running: 1, waiting: 0 };
  const one = await turns.take("a", single);
  one?.();
  expect(await turns.take("a", single)).not.toBeNull();
  one?.();
  expect(await turns.take("a", single)).toBeNull();
});

test("waiting ends after three seconds, and leaves the place to others", async () => {
  vi.useFakeTimers();
  const turns = createTurns({ enabled: true });
  const single = { running: 1, waiting: 1 };
  const end = await turns.take("a", single);
  const late = turns.take("a", single);
  vi.advanceTimersByTime(3_000);
  expect(await late).toBeNull();
  const next = turns.take("a", single);
  end?.();
  expect(await next).not.toBeNull();
});

test("limits that are off grant every turn", async () => {
  const turns = createTurns({ enabled: false });
  const ends = await Promise.all(Array.from({ length: 50 }, () => turns.take("a", limits)));
  expect(ends.every((end) => end !== null)).toBe(true);
});

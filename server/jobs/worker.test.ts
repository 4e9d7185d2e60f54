import { afterEach, expect, test } from "vitest";
import { eventually } from "../testing/eventually.ts";
import { startWorker, type Worker } from "./worker.ts";

let worker: Worker | undefined;
afterEach(async () => {
  await worker?.stop();
  worker = undefined;
});

/** A queue in memory whose jobs end when the test ends them. */
function memoryQueue(waiting: number[] = []) {
  const ends = new Map<number, () => void>();
  const done: number[] = [];
  const state = { waiting, done, ends, maxRunning: 0, searches: 0, broken: false, outages: [] as unknown[] };
  const options = {
    // Longer than any test.
    intervalMs: 3_600_000,
    async take(limit: number) {
      state.searches += 1;
      if (state.broken) throw new Error("no database");
      await Promise.resolve();
      return state.waiting.splice(0, limit);
    },
    perform(job: number) {
      return new Promise<void>((resolve) => {
        ends.set(job, () => {
          ends.delete(job);
          done.push(job);
          resolve();
        });
        state.maxRunning = Math.max(state.maxRunning, ends.size);
      });
    },
    onOutage: (error: unknown) => state.outages.push(error),
  };
  return { state, options };
}

test("runs no more jobs concurrently than allowed, and the next one when one ends", async () => {
  const { state, options } = memoryQueue([1, 2, 3, 4, 5]);
  worker = startWorker({ ...options, concurrency: 2 });
  for (const job of [1, 2, 3, 4, 5]) {
    await eventually(() => expect(state.ends.has(job)).toBe(true));
    state.ends.get(job)?.();
  }
  await eventually(() => expect(state.done).toEqual([1, 2, 3, 4, 5]));
  expect(state.maxRunning).toBe(2);
});

test("searches again after a call during a search", async () => {
  const { state, options } = memoryQueue();
  worker = startWorker({ ...options, concurrency: 1 });
  // The first search has found nothing but has not returned yet.
  state.waiting.push(7);
  await Promise.resolve();
  worker.wake();
  await eventually(() => expect(state.ends.has(7)).toBe(true));
  state.ends.get(7)?.();
});

test("claims a job that became due at full concurrency when a running one ends", async () => {
  const { state, options } = memoryQueue([1]);
  worker = startWorker({ ...options, concurrency: 1 });
  await eventually(() => expect(state.ends.has(1)).toBe(true));
  state.waiting.push(2);
  worker.wake();
  state.ends.get(1)?.();
  await eventually(() => expect(state.ends.has(2)).toBe(true));
  state.ends.get(2)?.();
});

test("searches once more after many calls during one search", async () => {
  const { state, options } = memoryQueue();
  worker = startWorker({ ...options, concurrency: 1 });
  for (let call = 0; call < 100; call += 1) worker.wake();
  await worker.stop();
  expect(state.searches).toBeLessThanOrEqual(2);
});

test("gathers calls while jobs run, and searches at once when none runs", async () => {
  const { state, options } = memoryQueue();
  worker = startWorker({ ...options, concurrency: 4, gatherMs: 3_600_000 });
  await eventually(() => expect(state.searches).toBe(1));
  state.waiting.push(1);
  await eventually(() => {
    worker?.wake();
    expect(state.ends.has(1)).toBe(true);
  });
  const { searches } = state;
  state.waiting.push(2, 3);
  worker.wake();
  worker.wake();
  await Promise.resolve();
  expect(state.searches).toBe(searches);
  state.ends.get(1)?.();
  await eventually(() => expect([...state.ends.keys()]).toEqual([2, 3]));
  expect(state.searches).toBe(searches + 1);
  for (const end of [...state.ends.values()]) end();
});

test("searches after the pause while a job does not end", async () => {
  const { state, options } = memoryQueue([1]);
  worker = startWorker({ ...options, concurrency: 4, gatherMs: 1 });
  await eventually(() => expect(state.ends.has(1)).toBe(true));
  state.waiting.push(2);
  worker.wake();
  await eventually(() => expect(state.ends.has(2)).toBe(true));
  for (const end of [...state.ends.values()]) end();
});

test("takes more of many due jobs when half of the running ones have ended", async () => {
  const { state, options } = memoryQueue([1, 2, 3, 4, 5, 6]);
  worker = startWorker({ ...options, concurrency: 4, gatherMs: 3_600_000 });
  await eventually(() => expect(state.ends.size).toBe(4));
  state.ends.get(1)?.();
  state.ends.get(2)?.();
  await eventually(() => expect([...state.ends.keys()]).toEqual([3, 4, 5, 6]));
  for (const end of [...state.ends.values()]) end();
});

test("reports an outage once, and its end once", async () => {
  const { state, options } = memoryQueue();
  state.broken = true;
  worker = startWorker({ ...options, concurrency: 1 });
  await eventually(() => expect(state.outages).toHaveLength(1));
  const { searches } = state;
  worker.wake();
  await eventually(() => expect(state.searches).toBe(searches + 1));
  state.broken = false;
  await eventually(() => {
    worker?.wake();
    expect(state.outages).toEqual([new Error("no database"), undefined]);
  });
});

test("waits for running jobs when it is stopped, and claims no others", async () => {
  const { state, options } = memoryQueue([1, 2]);
  worker = startWorker({ ...options, concurrency: 1 });
  await eventually(() => expect(state.ends.has(1)).toBe(true));
  const stopped = worker.stop();
  state.ends.get(1)?.();
  await stopped;
  expect(state.done).toEqual([1]);
  expect(state.waiting).toEqual([2]);
});

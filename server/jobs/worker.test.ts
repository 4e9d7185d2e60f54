import { afterEach, expect, test } from "vitest";
import { eventually } from "../testing/eventually.ts";
import { startWorker, type Worker } from "./worker.ts";

let worker: Worker | undefined;
afterEach(async () => {
  await worker?.stop();
  worker = undefined;
});

/** A queue in memory, whose jobs end when the test says so. */
function memoryQueue(waiting: number[] = []) {
  const ends = new Map<number, () => void>();
  const done: number[] = [];
  const state = { waiting, done, ends, most: 0, looks: 0, broken: false, outages: [] as unknown[] };
  const options = {
    // Never looks unasked within a test.
    interval: 3_600_000,
    async take(limit: number) {
      state.looks += 1;
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
        state.most = Math.max(state.most, ends.size);
      });
    },
    onOutage: (error: unknown) => state.outages.push(error),
  };
  return { state, options };
}

test("no more jobs run at once than allowed, and one that ends makes room for the next", async () => {
  const { state, options } = memoryQueue([1, 2, 3, 4, 5]);
  worker = startWorker({ ...options, concurrency: 2 });
  for (const job of [1, 2, 3, 4, 5]) {
    await eventually(() => expect(state.ends.has(job)).toBe(true));
    state.ends.get(job)?.();
  }
  await eventually(() => expect(state.done).toEqual([1, 2, 3, 4, 5]));
  expect(state.most).toBe(2);
});

test("a call during a look is not lost", async () => {
  const { state, options } = memoryQueue();
  worker = startWorker({ ...options, concurrency: 1 });
  // The first look has found nothing already, and has not come back yet.
  state.waiting.push(7);
  await Promise.resolve();
  worker.wake();
  await eventually(() => expect(state.ends.has(7)).toBe(true));
  state.ends.get(7)?.();
});

test("a call while every place is taken is answered when one is free", async () => {
  const { state, options } = memoryQueue([1]);
  worker = startWorker({ ...options, concurrency: 1 });
  await eventually(() => expect(state.ends.has(1)).toBe(true));
  state.waiting.push(2);
  worker.wake();
  state.ends.get(1)?.();
  await eventually(() => expect(state.ends.has(2)).toBe(true));
  state.ends.get(2)?.();
});

test("many calls during one look are one more look", async () => {
  const { state, options } = memoryQueue();
  worker = startWorker({ ...options, concurrency: 1 });
  for (let call = 0; call < 100; call += 1) worker.wake();
  await worker.stop();
  expect(state.looks).toBeLessThanOrEqual(2);
});

test("an outage is told once, and its end too", async () => {
  const { state, options } = memoryQueue();
  state.broken = true;
  worker = startWorker({ ...options, concurrency: 1 });
  await eventually(() => expect(state.outages).toHaveLength(1));
  const { looks } = state;
  worker.wake();
  await eventually(() => expect(state.looks).toBe(looks + 1));
  state.broken = false;
  await eventually(() => {
    worker?.wake();
    expect(state.outages).toEqual([new Error("no database"), undefined]);
  });
});

test("stopping waits for running jobs and takes no other", async () => {
  const { state, options } = memoryQueue([1, 2]);
  worker = startWorker({ ...options, concurrency: 1 });
  await eventually(() => expect(state.ends.has(1)).toBe(true));
  const stopped = worker.stop();
  state.ends.get(1)?.();
  await stopped;
  expect(state.done).toEqual([1]);
  expect(state.waiting).toEqual([2]);
});

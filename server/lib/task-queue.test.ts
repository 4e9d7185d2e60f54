import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { taskQueue } from "./task-queue.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const overloaded = () => new Error("overloaded");
const task = (milliseconds: number) => () => new Promise((resolve) => setTimeout(resolve, milliseconds));

it("rejects a task at once that would wait too long, as recent tasks took", async () => {
  const { run, isFull } = taskQueue({ running: 2, waiting: 100, maxWaitMs: 450, overloaded });
  const first = run(task(200));
  await vi.advanceTimersByTimeAsync(200);
  await first;
  // Two run, and four wait for up to 400 ms; a fifth would wait for more than 450.
  const accepted = Array.from({ length: 6 }, () => run(task(200)));
  expect(isFull()).toBe(true);
  await expect(run(task(200))).rejects.toThrow("overloaded");
  await vi.advanceTimersByTimeAsync(200);
  expect(isFull()).toBe(false);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(await Promise.allSettled(accepted)).toEqual(
    accepted.map(() => ({ status: "fulfilled", value: undefined })),
  );
});

it("accepts tasks of any duration while a slot is free, and learns that they have become faster", async () => {
  const { run, isFull } = taskQueue({ running: 1, waiting: 100, maxWaitMs: 500, overloaded });
  for (const milliseconds of [10_000, ...Array.from({ length: 40 }, () => 100)]) {
    const done = run(task(milliseconds));
    await vi.advanceTimersByTimeAsync(milliseconds);
    await done;
  }
  const running = run(task(100));
  expect(isFull()).toBe(false);
  await vi.advanceTimersByTimeAsync(100);
  await running;
});

it("rejects a task that has waited too long, because those before it take longer than recent ones", async () => {
  const { run } = taskQueue({ running: 1, waiting: 100, maxWaitMs: 500, overloaded });
  const slow = run(task(1_000));
  const late = run(task(1)).catch((error: Error) => error.message);
  await vi.advanceTimersByTimeAsync(500);
  expect(await late).toBe("overloaded");
  await vi.advanceTimersByTimeAsync(500);
  await slow;
});

it("lets a patient task wait however many others wait", async () => {
  const { run } = taskQueue({ running: 1, waiting: 1, maxWaitMs: 500, overloaded });
  const accepted = [run(task(1_000)), run(task(1_000), undefined, { isPatient: true })];
  const patient = run(task(1_000), undefined, { isPatient: true });
  await vi.advanceTimersByTimeAsync(3_000);
  expect(await Promise.all([...accepted, patient])).toHaveLength(3);
});

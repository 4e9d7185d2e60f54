import { expect, test } from "vitest";
import { createWaitingLine } from "./waiting-line.ts";

const single = { running: 1, waiting: 2, maxWaitMs: null };

test("a caller whose signal aborts leaves the line, and the next one takes the place", async () => {
  const line = createWaitingLine();
  const end = await line.take(single);
  const gone = new AbortController();
  const left = line.take(single, gone.signal);
  const next = line.take(single);
  expect([line.held, line.waiting]).toEqual([1, 2]);
  gone.abort(new Error("closed"));
  await expect(left).rejects.toThrow("closed");
  end?.();
  (await next)?.();
  expect([line.held, line.waiting]).toEqual([0, 0]);
});

test("a caller whose signal has aborted takes no place", async () => {
  const line = createWaitingLine();
  await expect(line.take(single, AbortSignal.abort(new Error("closed")))).rejects.toThrow("closed");
  expect(line.held).toBe(0);
});

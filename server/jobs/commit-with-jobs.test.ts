import { expect, test, vi } from "vitest";
import type { Transaction } from "#db/client";
import { commitWithJobs } from "./commit-with-jobs.ts";

const job = { name: "example" };

/** A runtime that records what is called, in order. */
function recordingRuntime(transactionFails?: Error) {
  const calls: string[] = [];
  const transaction = vi.fn(async (run: (tx: Transaction) => Promise<unknown>) => {
    const result = await run({} as Transaction);
    if (transactionFails) throw transactionFails;
    calls.push("commit");
    return result;
  });
  const runtime = {
    database: { write: { transaction } } as never,
    jobs: { enqueue: async () => void calls.push("enqueue"), wake: () => void calls.push("wake") },
  };
  const write = async () => {
    calls.push("write");
    return 7;
  };
  return { runtime, write, calls };
}

test("enqueues after the writes and wakes the workers after the commit", async () => {
  const { runtime, write, calls } = recordingRuntime();
  expect(await commitWithJobs(runtime, [job, job], write)).toBe(7);
  expect(calls).toEqual(["write", "enqueue", "enqueue", "commit", "wake"]);
});

test("wakes no worker without jobs", async () => {
  const { runtime, write, calls } = recordingRuntime();
  await commitWithJobs(runtime, [], write);
  expect(calls).toEqual(["write", "commit"]);
});

test("wakes no worker when the transaction is rolled back", async () => {
  const { runtime, write, calls } = recordingRuntime(new Error("rolled back"));
  await expect(commitWithJobs(runtime, [job], write)).rejects.toThrow("rolled back");
  expect(calls).toEqual(["write", "enqueue"]);
});

test("wakes the workers when the connection is lost during the commit", async () => {
  const lost = Object.assign(new Error("Connection terminated unexpectedly"), { code: "ECONNRESET" });
  const { runtime, write, calls } = recordingRuntime(lost);
  await expect(commitWithJobs(runtime, [job], write)).rejects.toThrow(lost);
  expect(calls).toEqual(["write", "enqueue", "wake"]);
});

import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { Transaction } from "#db/client";
import { writeOf } from "#db/write";
import { commandLine } from "../audit/audit.ts";
import { type TestDatabase, testDatabase } from "../testing/postgres.ts";
import { commitWithJobs, commitWrite } from "./commit-with-jobs.ts";

const job = { name: "example" };
const cause = { client: commandLine, now: new Date() };

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
  expect(await commitWithJobs(runtime, [job, job], cause, write)).toBe(7);
  expect(calls).toEqual(["write", "enqueue", "enqueue", "commit", "wake"]);
});

test("wakes no worker without jobs", async () => {
  const { runtime, write, calls } = recordingRuntime();
  await commitWithJobs(runtime, [], cause, write);
  expect(calls).toEqual(["write", "commit"]);
});

test("wakes no worker when the transaction is rolled back", async () => {
  const { runtime, write, calls } = recordingRuntime(new Error("rolled back"));
  await expect(commitWithJobs(runtime, [job], cause, write)).rejects.toThrow("rolled back");
  expect(calls).toEqual(["write", "enqueue"]);
});

test("wakes the workers when the connection is lost during the commit", async () => {
  const lost = Object.assign(new Error("Connection terminated unexpectedly"), { code: "ECONNRESET" });
  const { runtime, write, calls } = recordingRuntime(lost);
  await expect(commitWithJobs(runtime, [job], cause, write)).rejects.toThrow(lost);
  expect(calls).toEqual(["write", "enqueue", "wake"]);
});

describe("a write", () => {
  let db: TestDatabase;
  beforeAll(async () => {
    db = await testDatabase();
    await db.database.write.$client.query("create table things (name text primary key)");
  });
  afterAll(() => db.close());

  const thing = (name: string) => ({
    name: "thing",
    text: "thing as (insert into things values ($1) returning name)",
    values: [name],
    returns: "(select name from thing)",
  });
  const jobPart = { name: "job", text: "job as (insert into things values ('job'))", values: [] };
  const runtimeOf = (calls: string[]) => ({
    database: db.database,
    jobs: {
      enqueue: async () => void calls.push("enqueue"),
      insertion: async () => writeOf(jobPart),
      wake: () => void calls.push("wake"),
    },
  });
  async function things(): Promise<string[]> {
    const { rows } = await db.database.write.$client.query("delete from things returning name");
    return rows.map(({ name }) => name).sort();
  }

  test("with parts is one statement with its jobs, and learns what the parts return", async () => {
    const calls: string[] = [];
    const committed = (returned: object) => void calls.push(JSON.stringify(returned));
    await commitWrite(runtimeOf(calls), [job], cause, Object.assign(writeOf(thing("one")), { committed }));
    expect(await things()).toEqual(["job", "one"]);
    expect(calls).toEqual(["wake", '{"thing":"one"}']);
  });

  test("with parts that conflict leaves no job", async () => {
    const calls: string[] = [];
    const refusing = { ...thing("two"), name: "other", refuses: "'device'" };
    await expect(commitWrite(runtimeOf(calls), [job], cause, writeOf(refusing))).rejects.toThrow(
      "conflict: device",
    );
    expect(await things()).toEqual([]);
    expect(calls).toEqual([]);
  });

  test("without parts takes a transaction", async () => {
    const calls: string[] = [];
    await commitWrite(runtimeOf(calls), [job], cause, async () => void calls.push("write"));
    expect(calls).toEqual(["write", "enqueue", "wake"]);
  });
});

import { afterAll, beforeAll, expect, test } from "vitest";
import { ConflictError, type ConflictReason } from "#db/errors";
import { type TestRuntime, testClient, testRuntime } from "../testing/runtime.ts";
import { writeAssertion } from "./assertion.ts";

let runtime: TestRuntime;

beforeAll(async () => {
  runtime = await testRuntime();
});

afterAll(() => runtime.close());

const write = (thrown: Error) =>
  writeAssertion(
    { runtime, tenant: runtime.tenant, client: testClient, now: new Date(), signal: AbortSignal.abort() },
    async () => {
      throw thrown;
    },
  );

test.each<[ConflictReason, string]>([
  ["passkey", "the credential was used or removed concurrently"],
  ["transaction", "the transaction was answered concurrently"],
])("reports a concurrent change: %s", async (reason, details) => {
  expect(await write(new ConflictError(reason))).toMatchObject({ error: { status: 401, details } });
});

test("rethrows any other error", async () => {
  await expect(write(new Error("the disk is full"))).rejects.toThrow("the disk is full");
});

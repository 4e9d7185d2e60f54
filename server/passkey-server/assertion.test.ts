import { afterAll, beforeAll, expect, test } from "vitest";
import { ConflictError, type ConflictReason } from "#db/errors";
import { someone, type TestRuntime, testRuntime } from "../testing/runtime.ts";
import { writeAssertion } from "./assertion.ts";

let runtime: TestRuntime;

beforeAll(async () => {
  runtime = await testRuntime();
});

afterAll(() => runtime.close());

const write = (thrown: Error) =>
  writeAssertion(
    { runtime, tenant: runtime.tenant, client: someone, now: new Date(), signal: AbortSignal.abort() },
    async () => {
      throw thrown;
    },
  );

test.each<[ConflictReason, string]>([
  ["passkey", "the credential was used or removed meanwhile"],
  ["transaction", "the transaction was answered meanwhile"],
])("says what somebody else was faster with: %s", async (what, details) => {
  expect(await write(new ConflictError(what))).toMatchObject({ error: { status: 401, details } });
});

test("takes nothing else that fails for a refusal", async () => {
  await expect(write(new Error("the disk is full"))).rejects.toThrow("the disk is full");
});

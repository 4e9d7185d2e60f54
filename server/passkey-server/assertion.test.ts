import { expect, test } from "vitest";
import type { ConflictReason } from "#db/errors";
import type { Part } from "#db/part";
import { writeOf } from "#db/write";
import { runtimeForTests } from "../testing/open-for-tests.ts";
import { testClient } from "../testing/runtime.ts";
import { writeAssertion } from "./assertion.ts";

const runtime = await runtimeForTests();

const write = (refusing: Pick<Part, "name" | "refuses">) =>
  writeAssertion(
    { runtime, tenant: runtime.tenant, client: testClient, now: new Date(), signal: AbortSignal.abort() },
    writeOf({ text: "", values: [], ...refusing }),
  );

test.each<[ConflictReason, string]>([
  ["passkey", "the credential was used or removed concurrently"],
  ["transaction", "the transaction was answered concurrently"],
])("reports a concurrent change: %s", async (reason, details) => {
  const answer = await write({ name: `refused_${reason}`, refuses: `'${reason}'` });
  expect(answer).toMatchObject({ error: { status: 401, details } });
});

test("rethrows any other error", async () => {
  await expect(write({ name: "failing", refuses: "(1 / 0)::text" })).rejects.toThrow("division by zero");
});

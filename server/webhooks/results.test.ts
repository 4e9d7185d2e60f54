import { sql } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { storeWebhook } from "../testing/emitted-events.ts";
import { runtimeForTests } from "../testing/open-for-tests.ts";
import { claimOf } from "./claim.ts";
import { type Outcome, writeOutcomes } from "./results.ts";

const runtime = await runtimeForTests();

/** Commits an event of a user for a webhook, which is due: the time of an event is rounded, and may lie ahead. */
const commitEvent = (webhook: string, subject: string | null) =>
  runtime.database.write.execute(sql`
    with e as (
      insert into events (tenant_id, id, name, subject_id, data)
      values (${runtime.tenant.id}, gen_random_uuid(), 'user.login', ${subject}, '{}') returning *)
    insert into webhook_deliveries (tenant_id, id, webhook, event_id, sequence, subject_id, due_at)
    select tenant_id, gen_random_uuid(), ${webhook}, id, sequence, subject_id, now() - interval '1 second' from e`);

const accepted: Outcome = { kind: "attempted", answer: { status: 204, durationMs: 1 }, pauseSeconds: null };
const failed: Outcome = {
  kind: "attempted",
  answer: { status: 500, error: "status", durationMs: 1 },
  pauseSeconds: 5,
};

/** Claims the delivery of anna's first event, commits another event meanwhile, and writes the outcome. */
async function write(outcome: Outcome, meanwhile: { subject: string | null; other?: boolean }) {
  const [webhook, other] = [await storeWebhook(runtime), await storeWebhook(runtime)];
  await commitEvent(webhook, "anna");
  const claim = () => claimOf(runtime.database, { tenantId: runtime.tenant.id, webhook, limit: 10 }, 0);
  const [delivery] = await claim();
  if (!delivery) throw new Error("nothing was claimed");
  await commitEvent(meanwhile.other ? other : webhook, meanwhile.subject);
  expect(await claim()).toHaveLength(meanwhile.subject === "anna" || meanwhile.other ? 0 : 1);
  const { hasReleased } = await writeOutcomes(runtime, [{ delivery, outcome }]);
  expect(await claim()).toHaveLength(hasReleased ? 1 : 0);
  return hasReleased;
}

describe("the outcome of a first attempt", () => {
  test.each([
    ["accepted", accepted],
    ["failed", failed],
    ["refused", { kind: "refused" }],
    ["obsolete", { kind: "obsolete" }],
  ] as [string, Outcome][])(
    "that is %s releases a later event of the user, and says so",
    async (_, outcome) => {
      expect(await write(outcome, { subject: "anna" })).toBe(true);
    },
  );

  test("releases nothing of another user, of none, or for another webhook", async () => {
    expect(await write(accepted, { subject: "berta" })).toBe(false);
    expect(await write(accepted, { subject: null })).toBe(false);
    expect(await write(accepted, { subject: "anna", other: true })).toBe(false);
  });
});

test("an attempt that was not made releases nothing", async () => {
  expect(await write({ kind: "postponed", pauseSeconds: 60 }, { subject: "anna" })).toBe(false);
});

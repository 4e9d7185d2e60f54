import { readFileSync } from "node:fs";
import { pino } from "pino";
import { expect, inject, test } from "vitest";
import { RENEWAL_INTERVAL_MS } from "../database/instances.ts";
import { PURGE_INTERVAL_MS } from "../database/purge.ts";
import { POLL_INTERVAL_MS, SUPERVISION_INTERVAL_SECONDS } from "../jobs/queue.ts";
import { createLogouts } from "../openid/logouts.ts";
import { testJobs } from "../testing/jobs.ts";
import { withClient } from "../testing/postgres-cluster.ts";
import { testRuntime } from "../testing/runtime.ts";
import { createReceiverClient } from "../webhooks/receiver-client.ts";
import {
  createWebhookDelivery,
  POLL_INTERVAL_MS as DELIVERY_INTERVAL_MS,
} from "../webhooks/webhook-delivery.ts";

test("an idle server sends at most five statements a second", async () => {
  const runtime = await testRuntime();
  const { connectionString: url = "" } = runtime.database.write.$client.options;
  const name = url.replace(/^.*\//, "");
  await withClient(inject("postgres").adminUrl, (client) =>
    client.query(`alter database ${name} set log_statement = 'all'`),
  );
  const logged = new RegExp(`\\] ${name} LOG: +(statement|execute)`, "g");
  const total = () => readFileSync(inject("postgres").logFile, "utf8").match(logged)?.length ?? 0;
  /** Statements that PostgreSQL received for a task. */
  const count = async (run: () => Promise<unknown>) => {
    const before = total();
    await run();
    return total() - before;
  };

  const jobs = testJobs({ database: runtime.database });
  await jobs.start({ worker: false });
  const client = createReceiverClient({ allowPrivate: true });
  const logouts = { ...createLogouts(runtime), client };
  const delivery = createWebhookDelivery({ ...runtime, client, logouts, log: pino({ level: "silent" }) });

  // The first claim asks too whether the database is distributed.
  await delivery.runDue(1);
  const supervisedSearch = await count(() => jobs.runDue(1));
  const search = await count(() => jobs.runDue(1));
  const supervision = supervisedSearch - search;
  const claim = await count(() => delivery.runDue(1));
  const purge = await count(() => runtime.purgeExpired());
  for (const counted of [search, supervision, claim, purge]) expect(counted).toBeGreaterThan(0);

  const kinds = Object.values<{ searchIntervalMs?: number }>(jobs.kinds);
  const searches = kinds.map(({ searchIntervalMs = POLL_INTERVAL_MS }) => 1_000 / searchIntervalMs);
  const perSecond =
    (search / kinds.length) * searches.reduce((sum, each) => sum + each, 0) +
    supervision / SUPERVISION_INTERVAL_SECONDS +
    claim / (DELIVERY_INTERVAL_MS / 1_000) +
    purge / (PURGE_INTERVAL_MS / 1_000) +
    1 / (RENEWAL_INTERVAL_MS / 1_000);
  expect(perSecond).toBeLessThanOrEqual(5);
  await delivery.stop(0);
  await jobs.stop();
  await runtime.close();
});

import { randomUUID } from "node:crypto";
import type { ServerResponse } from "node:http";
import { sql } from "drizzle-orm";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { configWebhookId } from "../events/config-webhooks.ts";
import { eventually } from "../testing/eventually.ts";
import { outgrow, startLaterRelease } from "../testing/later-release.ts";
import { withClient } from "../testing/postgres-cluster.ts";
import { type Service, startService } from "../testing/service.ts";
import { waitsForLock } from "../testing/waits-for-lock.ts";
import { startReceiver, type WebhookReceiver } from "../testing/webhook-receiver.ts";

/** Deliveries and purges that servers have under way when the database outgrows them. They need `npm run build`. */

const tenantId = "00000000-0000-4000-8000-000000000001";

const jobsSecret = "the secret of the scheduler of this test";

/** A receiver that answers fast gets as many at once. */
const MAX_AT_ONCE = 16;

/** Lines with which the processes of a server say that the database has outgrown them. */
const noticesOf = ({ server }: Service) =>
  server
    .logs()
    .split("\n")
    .filter((line) => line.includes('"used_by":"99.0.0"'));

/** Waits until a server has noticed that a later release uses its database. */
const noticed = ({ server }: Service) =>
  eventually(async () => {
    const ready = await fetch(`${server.url}/health/ready`);
    expect(await ready.json()).toEqual({ ready: false, reason: "database_outgrown" });
  });

/** Commits events for a receiver, of no user, so that they may be delivered at once. */
const commitEvents = ({ database }: Service, { url }: WebhookReceiver, count: number) =>
  database.database.write.execute(sql`
    with e as (
      insert into events (tenant_id, id, name, data)
      select ${tenantId}, gen_random_uuid(), 'user.login', '{}' from generate_series(1, ${count}) returning *)
    insert into webhook_deliveries (tenant_id, id, webhook, event_id, sequence)
    select e.tenant_id, gen_random_uuid(), ${configWebhookId({ callback: url })}, e.id, e.sequence from e`);

async function deliveries({ database }: Service) {
  const { rows } = await database.database.write.execute<Record<string, unknown>>(sql`
    select state, attempts, claimed_until is not null as claimed, count(*)::int from webhook_deliveries
    group by 1, 2, 3 order by 1`);
  return rows;
}

const settingsOf = ({ url }: WebhookReceiver) => ({
  STILE_WEBHOOKS_ENABLED: "true",
  STILE_WEBHOOKS_ALLOW_PRIVATE_TARGETS: "true",
  STILE_WEBHOOKS_HOOKS: JSON.stringify([{ callback: url, events: ["user"] }]),
});

describe.each([
  ["one process", "1"],
  ["several processes", "2"],
])("of a server of %s that the database has outgrown", (_, workers) => {
  let receiver: WebhookReceiver;
  let service: Service;

  beforeAll(async () => {
    receiver = await startReceiver();
    service = await startService({ ...settingsOf(receiver), STILE_SERVER_WORKERS: workers });
  });
  afterAll(async () => {
    await service?.close();
    await receiver?.close();
  });

  test("A163 deliveries in hand end, those that wait are left to the later release, and each arrives once", async () => {
    const { server } = service;
    await commitEvents(service, receiver, 2 * MAX_AT_ONCE);
    await eventually(() => expect(receiver.received).toHaveLength(2 * MAX_AT_ONCE));

    const held: ServerResponse[] = [];
    receiver.answer = (response) => void held.push(response);
    await commitEvents(service, receiver, 5 * MAX_AT_ONCE);
    await eventually(() => expect(held).toHaveLength(MAX_AT_ONCE));
    await outgrow(service.database);
    // With several processes, the one that delivers is not the one that answers.
    await noticed(service);
    await eventually(() => expect(noticesOf(service).some((line) => !line.includes('"worker"'))).toBe(true));
    receiver.answer = (response) => response.writeHead(204).end();
    for (const response of held) response.writeHead(204).end();

    expect(await server.ended()).toBe(3);
    expect(receiver.received).toHaveLength(3 * MAX_AT_ONCE);
    expect(await deliveries(service)).toEqual([
      { state: "delivered", attempts: 1, claimed: false, count: 3 * MAX_AT_ONCE },
      { state: "waiting", attempts: 0, claimed: false, count: 4 * MAX_AT_ONCE },
    ]);
    const processes = noticesOf(service).map((line) => JSON.parse(line).worker);
    expect(new Set(processes).size).toBe(processes.length);
    expect(server.logs()).not.toMatch(/"level":50(?!.*may not use this database any more)/);

    const later = await startLaterRelease({
      ...settingsOf(receiver),
      DATABASE_URL: service.database.url,
      SECRET_KEYS: String(server.environment.SECRET_KEYS),
    });
    onTestFinished(() => later.stop());
    await eventually(async () =>
      expect(await deliveries(service)).toEqual([
        { state: "delivered", attempts: 1, claimed: false, count: 7 * MAX_AT_ONCE },
      ]),
    );
    expect(receiver.received).toHaveLength(7 * MAX_AT_ONCE);
    expect(new Set(receiver.received.map(({ id }) => id)).size).toBe(7 * MAX_AT_ONCE);
  });
});

test("A163 a purge under way in a server that the database has outgrown deletes no further rows", async () => {
  const service = await startService({ STILE_JOBS_SECRET: jobsSecret, STILE_AUDIT_LOG_RETENTION: "30d" });
  onTestFinished(() => service.close());
  const { server, database } = service;
  const { write } = database.database;
  await write.execute(sql`
    insert into audit_logs (tenant_id, id, type, details, created_at)
    select ${tenantId}, gen_random_uuid(), 'login_success', '{}', now() - interval '60 days'
    from generate_series(1, 2500)`);
  await write.execute(sql`
    insert into webauthn_challenges (tenant_id, id, flow_id, ceremony, challenge, expires_at)
    values (${tenantId}, ${randomUUID()}, ${randomUUID()}, 'get', 'expired', now() - interval '1 day')`);
  const count = async (table: string) =>
    (await write.execute<{ count: number }>(`select count(*)::int from ${table}`)).rows[0]?.count;

  await withClient(database.url, async (holder) => {
    await holder.query("begin; lock table audit_logs in exclusive mode");
    const purge = fetch(`${server.url}/api/jobs`, { headers: { Authorization: `Bearer ${jobsSecret}` } });
    await waitsForLock(holder);
    await outgrow(database);
    await noticed(service);
    await holder.query("commit");
    await purge;
  });

  expect(await server.ended()).toBe(3);
  // The statement that waited has deleted its rows.
  expect(await count("audit_logs where created_at < now() - interval '30 days'")).toBe(1500);
  // The table after it in the order of the purge.
  expect(await count("webauthn_challenges")).toBe(1);
});

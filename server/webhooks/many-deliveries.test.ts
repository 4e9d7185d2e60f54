import { sql } from "drizzle-orm";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { Connection } from "#db/connection";
import { storeWebhook } from "../testing/emitted-events.ts";
import { type TestRuntime, testRuntime } from "../testing/runtime.ts";
import { listDeliveries, MAX_LISTED } from "./delivery-list.ts";
import { deleteWebhook } from "./stored-webhooks.ts";

/** Plans of what runs beside the logins of an operator with many events. */

const COUNT = 30_000;

/** Deliveries of other webhooks, which a walk through the newest ones passes over. */
const OTHERS = 3_000;

let runtime: TestRuntime;
let webhook: string;
beforeAll(async () => {
  runtime = await testRuntime();
  webhook = await storeWebhook(runtime);
  const { write } = runtime.database;
  const tenant = runtime.tenant.id;
  await write.execute(sql`
    with e as (
      insert into events (tenant_id, id, name, subject_id, data, created_at)
      select ${tenant}, gen_random_uuid(), 'user.login', i::text, '{}', now() - i * interval '1 second'
      from generate_series(1, ${COUNT}::int) i returning *)
    insert into webhook_deliveries (tenant_id, id, webhook, event_id, sequence, state, created_at)
    select tenant_id, gen_random_uuid(), ${webhook}, id, sequence,
      case when sequence % 1000 = 0 then 'failed' else 'delivered' end, created_at from e`);
  // Other tenants, each with a webhook of its own.
  await write.execute(sql`
    with t as (
      insert into tenants (id, name, hosts, config)
      select gen_random_uuid(), 'Tenant ' || i, '{}', '{}' from generate_series(1, ${OTHERS / 10}::int) i returning id),
    e as (
      insert into events (tenant_id, id, name, data)
      select t.id, gen_random_uuid(), 'user.login', '{}' from t, generate_series(1, 10) returning *)
    insert into webhook_deliveries (tenant_id, id, webhook, event_id, sequence)
    select tenant_id, gen_random_uuid(), gen_random_uuid()::text, id, sequence from e`);
  await write.execute(sql`analyze events, webhook_deliveries`);
});
afterAll(() => runtime.close());

interface PlanNode {
  "Node Type": string;
  "Relation Name"?: string;
  "Actual Rows": number;
  "Actual Loops": number;
  "Rows Removed by Filter"?: number;
  "Shared Hit Blocks": number;
  "Shared Read Blocks": number;
  Plans?: PlanNode[];
}

/** Runs a statement, and returns the nodes of its plan that read tables. */
async function reads(
  text: string,
  values: unknown[],
): Promise<{ table: string; how: string; rows: number; blocks: number }[]> {
  const { rows } = await runtime.database.write.$client.query(
    `explain (analyze, buffers, costs off, timing off, format json) ${text}`,
    values,
  );
  const nodes = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(nodes)];
  return nodes(rows[0]["QUERY PLAN"][0].Plan).flatMap((node) =>
    node["Relation Name"] === undefined
      ? []
      : {
          table: node["Relation Name"],
          how: node["Node Type"],
          rows: (node["Actual Rows"] + (node["Rows Removed by Filter"] ?? 0)) * node["Actual Loops"],
          blocks: node["Shared Hit Blocks"] + node["Shared Read Blocks"],
        },
  );
}

test("a webhook with more deliveries than one statement deletes leaves those of others", async () => {
  const [id, other] = [await storeWebhook(runtime), await storeWebhook(runtime)];
  const { write } = runtime.database;
  await write.execute(sql`
    with e as (
      insert into events (tenant_id, id, name, sealed_data)
      select ${runtime.tenant.id}, gen_random_uuid(), 'email.send', 'sealed' from generate_series(1, 25000)
      returning *),
    d as (
      insert into webhook_deliveries (tenant_id, id, webhook, event_id, sequence, state)
      select e.tenant_id, gen_random_uuid(), w, e.id, e.sequence, case when w = ${other} then 'delivered' else 'waiting' end
      from e, unnest(case when e.sequence % 2 = 0 then array[${id}, ${other}] else array[${id}] end) w
      returning *)
    insert into webhook_attempts (tenant_id, delivery_id, number, at, duration_ms)
    select tenant_id, id, 1, now(), 1 from d`);
  const counts = async () => {
    const { rows } = await write.execute(sql`
      select count(*) filter (where webhook = ${id})::int as own,
        count(*) filter (where webhook = ${other})::int as others,
        (select count(*)::int from events where name = 'email.send') as events,
        (select count(*)::int from events where sealed_data is not null) as sealed,
        (select count(*)::int from webhook_attempts) as attempts
      from webhook_deliveries`);
    return rows[0];
  };

  expect(await deleteWebhook(runtime, runtime.tenant, id)).toBe(true);
  expect(await counts()).toMatchObject({ own: 5_000, others: 12_500 });
  await Promise.all([runtime.purgeExpired(), runtime.purgeExpired()]);
  expect(await runtime.purgeExpired()).toBe(0);
  expect(await counts()).toEqual({ own: 0, others: 12_500, events: 12_500, sealed: 0, attempts: 12_500 });

  // The plans of other tests are about the deliveries that were there before.
  await deleteWebhook(runtime, runtime.tenant, other);
  while ((await runtime.purgeExpired()) > 0);
  await write.execute(sql`analyze events, webhook_deliveries, webhook_attempts`);
});

describe("a page of deliveries", () => {
  const pages = [
    { number: 1, size: 20 },
    { number: MAX_LISTED / 100, size: 100 },
    { number: 1_000_000, size: 100 },
  ];
  const filters = [{}, { state: "failed" as const }, { state: "waiting" as const }, { from: new Date(0) }];

  test.each(pages.flatMap((page) => filters.map((filter) => [page, filter] as const)))(
    "%j of %j reads little more than is listed at most, by indices",
    async (page, filter) => {
      const query = vi.spyOn(Connection.prototype, "query");
      const receiver = { tenantId: runtime.tenant.id, webhook };
      const { total } = await listDeliveries(runtime, receiver, filter, page);
      const sent = query.mock.calls.map(([call, values]) => {
        const { text } = call as unknown as { text: string };
        return { text, values: values as unknown as unknown[] };
      });
      query.mockRestore();
      const failed = Math.floor(COUNT / 1000);
      expect(total).toBe(filter.state === "failed" ? failed : filter.state === "waiting" ? 0 : MAX_LISTED);
      for (const { text, values } of sent) {
        for (const { table, how, rows } of await reads(text, values)) {
          expect(rows).toBeLessThanOrEqual(MAX_LISTED + OTHERS + 1);
          if (table !== "webhook_attempts") expect(how).toMatch(/Index|Bitmap/);
        }
      }
    },
  );
});

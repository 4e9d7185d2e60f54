import { type SQL, sql } from "drizzle-orm";
import type { Database } from "#db/client";
import { isDistributed } from "#db/distribution";
import { forReachableTenants } from "../database/reachable-tenants.ts";

/** Deliveries that one statement deletes, to keep its locks short. */
const BATCH_ROWS = 5_000;

/**
 * Deletes deliveries of a webhook that was deleted with their attempts, the events that no other webhook got, and the
 * sealed data that only these deliveries waited for. Each batch is a transaction of its own: what an interrupted call
 * leaves, `deleteAbandonedDeliveries` deletes.
 *
 * @param options `limit`: deliveries at most, by default all; `ending`: ends it after the batch that runs
 * @returns the number of deleted deliveries
 */
export async function deleteDeliveries(
  { claim }: Pick<Database, "claim">,
  { tenantId, webhook }: { tenantId: string; webhook: string },
  { limit = Number.POSITIVE_INFINITY, ending }: { limit?: number; ending?: AbortSignal | undefined } = {},
): Promise<number> {
  const others = sql`select 1 from webhook_deliveries d
    where d.tenant_id = ${tenantId} and d.event_id = e.id and d.webhook <> ${webhook}`;
  let total = 0;
  for (
    let deleted = BATCH_ROWS;
    deleted === BATCH_ROWS && total < limit && !ending?.aborted;
    total += deleted
  ) {
    const { rows } = await claim.execute<{ count: number }>(sql`
      with gone as (
        delete from webhook_deliveries where tenant_id = ${tenantId} and id = any (array(
          select id from webhook_deliveries where tenant_id = ${tenantId} and webhook = ${webhook}
          order by created_at limit ${BATCH_ROWS} for update skip locked))
        returning id, event_id),
      attempts as (
        delete from webhook_attempts a using gone where a.tenant_id = ${tenantId} and a.delivery_id = gone.id),
      deleted as (
        delete from events e using (select distinct event_id from gone) g
        where e.tenant_id = ${tenantId} and e.id = g.event_id and not exists (${others})),
      erased as (
        update events e set sealed_data = null from (select distinct event_id from gone) g
        where e.tenant_id = ${tenantId} and e.id = g.event_id and e.sealed_data is not null
          and exists (${others}) and not exists (${others} and d.state = 'waiting'))
      select count(*)::int as count from gone`);
    deleted = rows[0]?.count ?? 0;
  }
  return total;
}

/** One probe of an index for each webhook with deliveries. */
const receiversInOrder = sql`recursive receivers as (
  (select tenant_id, webhook from webhook_deliveries order by tenant_id, webhook limit 1)
  union all
  select n.tenant_id, n.webhook from receivers r cross join lateral (
    select d.tenant_id, d.webhook from webhook_deliveries d
    where (d.tenant_id, d.webhook) > (r.tenant_id, r.webhook)
    order by d.tenant_id, d.webhook limit 1) n)`;

/** The same where each node finds its own. */
const receiversOfNodes = (within: SQL) => sql`receivers as (
  select tenant_id, webhook from webhook_deliveries where ${within} group by tenant_id, webhook)`;

type Receiver = { tenant_id: string; webhook: string };

/** Returns the webhooks with deliveries that are not stored. @param receivers an expression of all with deliveries */
const abandonedOf = (database: Pick<Database, "claim">, receivers: SQL) =>
  database.claim.execute<Receiver>(sql`
    with ${receivers}
    select r.tenant_id, r.webhook from receivers r
    where r.webhook not like 'config:%' and not exists (
      select 1 from webhooks w where w.tenant_id = r.tenant_id and w.id::text = r.webhook)`);

/**
 * Deletes the deliveries of all webhooks that are not stored any more: of `stile webhooks listen` after a kill, and of
 * deleted webhooks, also those that a transaction wrote while its webhook was deleted. Several servers may run it
 * concurrently.
 *
 * @param ending ends it after the batch that runs
 * @returns the number of deleted deliveries
 */
export async function deleteAbandonedDeliveries(
  database: Pick<Database, "claim">,
  ending?: AbortSignal,
): Promise<number> {
  if (ending?.aborted) return 0;
  const { rows } = (await isDistributed(database))
    ? await forReachableTenants(database, (within) =>
        abandonedOf(database, receiversOfNodes(within(sql`tenant_id`))),
      )
    : await abandonedOf(database, receiversInOrder);
  let total = 0;
  for (const { tenant_id: tenantId, webhook } of rows)
    total += await deleteDeliveries(database, { tenantId, webhook }, { ending });
  return total;
}

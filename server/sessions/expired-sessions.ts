import { isNotNull, type SQL, sql } from "drizzle-orm";
import { type Databases, schema } from "#db/client";
import { isDistributed } from "#db/distribution";
import type { Tenant } from "../config/tenant.ts";
import { forReachableTenants } from "../database/reachable-tenants.ts";
import { emit, type WakesWebhooks } from "../events/emit.ts";
import type { OnPlatform } from "../lib/platform.ts";
import { isIdleRow } from "./idleness.ts";
import { type EndedRow, endedSessionOf } from "./sessions.ts";

/** What this module takes of the process. */
type Process = Databases &
  OnPlatform &
  WakesWebhooks & {
    /** The default tenant. */
    tenant: Tenant;
    tenants: { byId(id: string): Promise<Tenant | null> };
  };

type Purging = Process & { ending: AbortSignal | undefined };

/** Sessions that one transaction deletes. */
const BATCH_ROWS = 1_000;

/** Pages of the table that one search for idle sessions reads. */
const SEARCHED_PAGES = 2_000;

/**
 * Deletes the sessions of all tenants that have expired or were idle for too long, and emits the event of their end.
 * Several servers may run it concurrently: the transaction that deletes a row emits its event.
 *
 * @param ending ends it after the batch that runs
 * @returns the number of deleted sessions
 */
export async function endExpiredSessions(process: Process, ending?: AbortSignal): Promise<number> {
  if (ending?.aborted) return 0;
  const runtime = { ...process, ending };
  const expired = await endInBatches(runtime, sql`s.expires_at < now()`, sql`order by s.expires_at`);
  const idle = await idleCondition(runtime);
  return idle === null ? expired : expired + (await endIdleSessions(runtime, idle));
}

/** Looks for idle sessions in one part of the table after the other, so that no batch reads what an earlier one read. */
async function endIdleSessions(runtime: Purging, idle: SQL): Promise<number> {
  if (await isDistributed(runtime.database)) return endInBatches(runtime, idle);
  const { rows } = await runtime.database.write.execute<{ pages: number }>(
    sql`select (pg_relation_size('sessions') / current_setting('block_size')::int)::int as pages`,
  );
  let total = 0;
  for (let page = 0; page < (rows[0]?.pages ?? 0); page += SEARCHED_PAGES) {
    const part = sql`s.ctid >= ${`(${page},0)`}::tid and s.ctid < ${`(${page + SEARCHED_PAGES},0)`}::tid`;
    total += await endInBatches(runtime, sql`${part} and ${idle}`);
  }
  return total;
}

async function endInBatches(runtime: Purging, condition: SQL, order = sql``): Promise<number> {
  let total = 0;
  for (let ended = BATCH_ROWS; ended === BATCH_ROWS && !runtime.ending?.aborted; total += ended)
    ended = await endBatch(runtime, condition, order);
  return total;
}

async function endBatch(runtime: Process, condition: SQL, order: SQL): Promise<number> {
  if (await isDistributed(runtime.database)) return endBatchByTenant(runtime, condition);
  return runtime.database.write.transaction(async (tx) => {
    const { rows } = await tx.execute<EndedRow & { tenant_id: string }>(sql`
      delete from sessions where ctid = any (array(
        select s.ctid from sessions s where ${condition} ${order} limit ${BATCH_ROWS} for update skip locked))
      returning *`);
    for (const row of rows) {
      const tenant = await tenantOf(runtime, row.tenant_id);
      await emit({ runtime, tenant }, "session.delete.passive.expire", endedSessionOf(row))(tx);
    }
    return rows.length;
  });
}

/** The same in a distributed database: a session is deleted where its tenant is, with the events of its end. */
async function endBatchByTenant(runtime: Process, condition: SQL): Promise<number> {
  const { rows } = await forReachableTenants(runtime.database, (within) =>
    runtime.database.write.execute<{ tenant_id: string; id: string }>(
      sql`select s.tenant_id, s.id from sessions s where ${condition} and ${within(sql`s.tenant_id`)} limit ${BATCH_ROWS}`,
    ),
  );
  for (const [tenantId, found] of Map.groupBy(rows, (row) => row.tenant_id)) {
    const tenant = await tenantOf(runtime, tenantId);
    await runtime.database.write.transaction(async (tx) => {
      const { rows: ended } = await tx.execute<EndedRow>(sql`
        delete from sessions s where s.tenant_id = ${tenantId} and s.id = any (${sql.param(found.map(({ id }) => id))}::uuid[])
          and ${condition}
        returning *`);
      for (const row of ended)
        await emit({ runtime, tenant }, "session.delete.passive.expire", endedSessionOf(row))(tx);
    });
  }
  return rows.length;
}

/** The tenant of a session; without webhooks of the configuration if its settings are invalid. */
async function tenantOf({ tenant, tenants }: Process, id: string): Promise<Tenant> {
  const { config } = tenant;
  const fallback = { id, config: { ...config, webhooks: { ...config.webhooks, enabled: false } } };
  return (await tenants.byId(id).catch(() => null)) ?? fallback;
}

/**
 * The sessions `s` that were idle for too long; null if no tenant has a limit. No index has them: it would be written at
 * each use of a session. A scan of a million sessions takes a fifth of a second.
 */
async function idleCondition({ database, tenant, tenants }: Process): Promise<SQL | null> {
  const limit = tenant.config.session.idle_timeout;
  const deviating = await database.read
    .select({ id: schema.tenants.id })
    .from(schema.tenants)
    .where(isNotNull(sql`${schema.tenants.config} #> '{session,idle_timeout}'`));
  const own: { tenant_id: string; idle: number }[] = [];
  for (const { id } of deviating) {
    const found = await tenants.byId(id).catch(() => null);
    if (found) own.push({ tenant_id: id, idle: found.config.session.idle_timeout });
  }
  if (limit === 0 && own.every(({ idle }) => idle === 0)) return null;
  const idle = sql`coalesce((
    select o.idle from jsonb_to_recordset(${JSON.stringify(own)}::jsonb) as o(tenant_id uuid, idle float8)
    where o.tenant_id = s.tenant_id), ${limit}::float8)`;
  return isIdleRow("s", idle);
}

import { sql } from "drizzle-orm";
import type { Database, Transaction } from "#db/client";
import type { Part } from "#db/part";
import { forReachableTenants } from "../database/reachable-tenants.ts";

/**
 * Jobs of a distributed database are made at the node of their tenant, in the table `new_jobs`: the queue, which is at the
 * coordinator, is not asked in the transaction of a step, and is not seen by a process that enters at another node. Who runs
 * jobs takes them into the queue.
 */

/** A job that waits to be taken into the queue. */
export interface NewJob {
  tenantId: string;
  id: string;
  name: string;
  /** As the queue stores it. */
  data: object;
  /** Seconds after which it is discarded, from now on. */
  lifetimeSeconds: number;
  maxPauseSeconds: number;
}

/** Jobs that are taken together. */
const TOGETHER = 1_000;

/** Returns the part that makes a job, of a statement for a distributed database. */
export function newJobPart(job: NewJob): Part {
  return {
    name: `job_${job.name}`,
    text: "",
    values: [],
    distributed: {
      text: "",
      after: [
        {
          name: "new_job",
          text: `insert into new_jobs (tenant_id, id, name, data, lifetime_seconds, max_pause_seconds)
            values ($1, $2, $3, $4::jsonb, $5, $6)`,
          values: [
            ...[job.tenantId, job.id, job.name, JSON.stringify(job.data)],
            ...[job.lifetimeSeconds, job.maxPauseSeconds],
          ],
        },
      ],
    },
  };
}

/**
 * Takes up to a thousand new jobs, each once. While a node is down, those of its tenants wait.
 *
 * @param names the kinds that are taken; those of a later version wait for a process that knows them
 * @param put puts them into the queue, in the transaction that deletes them here
 * @returns the kinds of what was taken; empty if none waits
 */
export async function takeNewJobs(
  database: Pick<Database, "read" | "claim" | "write">,
  names: readonly string[],
  put: (tx: Transaction, jobs: readonly NewJob[]) => Promise<void>,
): Promise<string[]> {
  const found = await forReachableTenants(database, async (within) => {
    const { rows } = await database.read.execute<{ tenantId: string; id: string; secondsLeft: number }>(sql`
      select tenant_id as "tenantId", id,
        ceil(lifetime_seconds - extract(epoch from statement_timestamp() - created_at))::float8 as "secondsLeft"
      from new_jobs
      where name = any (${sql.param([...names])}::text[]) and ${within(sql`tenant_id`)} limit ${TOGETHER}`);
    return rows;
  });
  if (found.length === 0) return [];
  const secondsLeft = new Map(found.map((one) => [one.id, one.secondsLeft]));
  return database.write.transaction(async (tx) => {
    // Another process may have taken some of them.
    const { rows } = await tx.execute<Omit<NewJob, "lifetimeSeconds"> & Record<string, unknown>>(sql`
      delete from new_jobs
      where tenant_id = any (${sql.param([...new Set(found.map(({ tenantId }) => tenantId))])}::uuid[])
        and id = any (${sql.param(found.map(({ id }) => id))}::uuid[])
      returning tenant_id as "tenantId", id, name, data, max_pause_seconds as "maxPauseSeconds"`);
    const taken = rows.map((row) => ({ ...row, lifetimeSeconds: Math.max(0, secondsLeft.get(row.id) ?? 0) }));
    await put(tx, taken);
    return [...new Set(taken.map(({ name }) => name))];
  });
}

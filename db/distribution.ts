import type { Database } from "./client.ts";

/** Whether the tables of a database lie on several nodes, each tenant on one (Citus), as `stile database distribute` makes them. */

const known = new WeakMap<object, Promise<boolean>>();

/**
 * Whether a database is distributed. It is asked once: servers are started again after `stile database distribute`.
 *
 * @throws errors of the database, and asks again then
 */
export function isDistributed(database: Pick<Database, "claim">): Promise<boolean> {
  const answer = known.get(database.claim) ?? ask(database);
  known.set(database.claim, answer);
  answer.catch(() => known.delete(database.claim));
  return answer;
}

async function ask({ claim: { $client: pool } }: Pick<Database, "claim">): Promise<boolean> {
  const { rows } = await pool.query<{ hasCitus: boolean }>(
    `select to_regclass('pg_catalog.pg_dist_partition') is not null as "hasCitus"`,
  );
  if (!rows[0]?.hasCitus) return false;
  const { rows: flows } = await pool.query(
    "select 1 from pg_catalog.pg_dist_partition where logicalrelid = to_regclass('flows')",
  );
  return flows.length > 0;
}

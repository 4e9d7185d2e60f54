import type pg from "pg";

/** Whether the tables of a database lie on several nodes, each tenant on one (Citus), as `stile database distribute` makes them. */

/** The part of a database that is asked, as `client.ts` opens it. */
interface Asked {
  claim: { $client: Pick<pg.Pool, "query"> };
}

const known = new WeakMap<object, Promise<boolean>>();

/**
 * Whether a database is distributed. It is asked once: servers are started again after `stile database distribute`.
 *
 * @throws errors of the database, and asks again then
 */
export function isDistributed(database: Asked): Promise<boolean> {
  const answer = known.get(database.claim) ?? ask(database);
  known.set(database.claim, answer);
  answer.catch(() => known.delete(database.claim));
  return answer;
}

const entries = new WeakMap<object, Promise<boolean>>();

/**
 * Whether a database is reached through a node of a distributed database that is not its coordinator: tables that are at the
 * coordinator alone are not seen there. Asked once, as `isDistributed`.
 */
export function entersAtWorker(database: Asked): Promise<boolean> {
  const answer = entries.get(database.claim) ?? askForEntry(database);
  entries.set(database.claim, answer);
  answer.catch(() => entries.delete(database.claim));
  return answer;
}

async function askForEntry(database: Asked): Promise<boolean> {
  if (!(await isDistributed(database))) return false;
  const { rows } = await database.claim.$client.query<{ isWorker: boolean }>(
    `select not citus_is_coordinator() as "isWorker"`,
  );
  return rows[0]?.isWorker ?? false;
}

const databases = new WeakMap<object, Asked>();

/** Says which database a transaction is of. */
export const beginsIn = (database: Asked, tx: object): void => void databases.set(tx, database);

/** Whether a transaction of the `write` pool is of a distributed database. */
export async function isDistributedTransaction(tx: object): Promise<boolean> {
  const database = databases.get(tx);
  return database !== undefined && isDistributed(database);
}

async function ask({ claim: { $client: pool } }: Asked): Promise<boolean> {
  const { rows } = await pool.query<{ hasCitus: boolean }>(
    `select to_regclass('pg_catalog.pg_dist_partition') is not null as "hasCitus"`,
  );
  if (!rows[0]?.hasCitus) return false;
  const { rows: flows } = await pool.query(
    "select 1 from pg_catalog.pg_dist_partition where logicalrelid = to_regclass('flows')",
  );
  return flows.length > 0;
}

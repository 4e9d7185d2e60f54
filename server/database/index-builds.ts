import { setTimeout as pause } from "node:timers/promises";
import type pg from "pg";
import type { Logger } from "pino";
import { isDuplicateName, isRetryable } from "#db/errors";
import { withoutComments } from "./migration-units.ts";

/** An index that a migration creates. */
export interface NewIndex {
  name: string;
  table: string;
  /** The statement that builds it while others write. */
  statement: string;
}

/** A smaller table is indexed in less than a quarter of a second, for which writes may wait. */
const MAX_LOCKED_BYTES = 8 * 1024 * 1024;

/** The time between two looks at a build, and between two lines of the log that tell how far it is. */
const LOOK_MS = 100;
const PROGRESS_MS = 10_000;

/** Reads `CREATE INDEX` as drizzle-kit writes it; null for any other statement. */
export function newIndex(statement: string): NewIndex | null {
  const found = /^CREATE (UNIQUE )?INDEX (?:IF NOT EXISTS )?"(\w+)" ON "(\w+)" ([^;]+);?$/.exec(
    withoutComments(statement),
  );
  if (!found) return null;
  const [, unique = "", name = "", table = "", columns = ""] = found;
  return {
    name,
    table,
    statement: `CREATE ${unique}INDEX CONCURRENTLY "${name}" ON "${table}" ${columns}`,
  };
}

/**
 * Whether an index has to be built while others write: its table is long, or an interrupted build has left an index that no
 * query uses.
 */
export async function isLongBuild(client: pg.Client, { name, table }: NewIndex): Promise<boolean> {
  const state = await stateOf(client, name);
  if (state !== "missing") return state === "invalid";
  const { rows } = await client.query<{ bytes: string | null }>(
    "select pg_table_size(to_regclass(quote_ident($1)))::text as bytes",
    [table],
  );
  return Number(rows[0]?.bytes ?? 0) > MAX_LOCKED_BYTES;
}

/** Whether an index exists that is used by queries. */
export const isValidIndex = async (client: pg.Client, name: string): Promise<boolean> =>
  (await stateOf(client, name)) === "valid";

/**
 * Builds an index without a lock that writes wait for (PostgreSQL manual, `CREATE INDEX CONCURRENTLY`). It waits for
 * transactions that began before it, for which it gives up nothing. What an interrupted build has left is dropped. If
 * several processes build at once, one does, and the others wait for it.
 *
 * @param client a connection without a transaction
 * @param openAnother another connection, for looks at how far it is
 * @throws errors of the database, such as of a value that a unique index forbids, or of a full disk
 */
export async function buildIndex(
  client: pg.Client,
  index: NewIndex,
  openAnother: <Result>(work: (client: pg.Client) => Promise<Result>) => Promise<Result>,
  log?: Pick<Logger, "info">,
): Promise<void> {
  const isOver = new AbortController();
  const told = openAnother((other) => tellProgress(other, index, isOver.signal, log)).catch(() => {});
  try {
    for (;;) {
      // In this order: a build holds its lock from before its index can be seen until after it is valid.
      const isLocked = await isLockedByBuild(client, index.table);
      const state = await stateOf(client, index.name);
      if (state === "valid") return;
      if (state === "missing") await build(client, index);
      else if (isLocked) await pause(LOOK_MS);
      else await client.query(`DROP INDEX CONCURRENTLY IF EXISTS "${index.name}"`);
    }
  } finally {
    isOver.abort();
    await told;
  }
}

/** Builds it, unless another process has begun to meanwhile. */
async function build(client: pg.Client, { statement }: NewIndex): Promise<void> {
  try {
    await client.query(statement);
  } catch (error) {
    if (!isDuplicateName(error) && !isRetryable(error)) throw error;
    await pause(LOOK_MS);
  }
}

async function stateOf(client: pg.Client, name: string): Promise<"valid" | "invalid" | "missing"> {
  const { rows } = await client.query<{ isValid: boolean }>(
    `select indisvalid as "isValid" from pg_index where indexrelid = to_regclass(quote_ident($1))`,
    [name],
  );
  if (!rows[0]) return "missing";
  return rows[0].isValid ? "valid" : "invalid";
}

/** Whether a process holds the lock of a build, which a vacuum takes too. */
async function isLockedByBuild(client: pg.Client, table: string): Promise<boolean> {
  const { rows } = await client.query(
    `select 1 from pg_locks join pg_database d on d.oid = database
    where datname = current_database() and relation = to_regclass(quote_ident($1))
      and mode = 'ShareUpdateExclusiveLock' and granted limit 1`,
    [table],
  );
  return rows.length > 0;
}

/** Logs how far a build is, until it is over. */
async function tellProgress(
  client: pg.Client,
  { name, table }: NewIndex,
  isOver: AbortSignal,
  log?: Pick<Logger, "info">,
): Promise<void> {
  log?.info({ index: name, table }, "an index is built while servers use its table");
  for (;;) {
    await pause(PROGRESS_MS, undefined, { signal: isOver });
    const { rows } = await client.query<{ phase: string; percent: number | null; waits_for: number | null }>(
      `select phase, nullif(current_locker_pid, 0) as waits_for,
        round(100.0 * greatest(blocks_done, 0) / nullif(blocks_total, 0))::int as percent
      from pg_stat_progress_create_index
      where relid = to_regclass(quote_ident($1)) and datname = current_database() limit 1`,
      [table],
    );
    if (rows[0]) log?.info({ index: name, ...rows[0] }, "an index is being built");
  }
}

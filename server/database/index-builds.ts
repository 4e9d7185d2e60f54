import { setTimeout as pause } from "node:timers/promises";
import type pg from "pg";
import type { Logger } from "pino";
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

/** How long a claim on a build holds that is not renewed, and how often it is. */
const CLAIM_SECONDS = 30;
const RENEW_MS = 5_000;

/** The time between two looks at a build that an interrupted process has left to PostgreSQL. */
const LOOK_MS = 500;

/** The time between two lines of the log that tell how far a build is. */
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
  return (await sizeOf(client, table)) > MAX_LOCKED_BYTES;
}

/** Whether an index exists that is used by queries. */
export const isValidIndex = async (client: pg.Client, name: string): Promise<boolean> =>
  (await stateOf(client, name)) === "valid";

export async function createBuildClaims(client: pg.Client): Promise<void> {
  await client.query(`create table if not exists drizzle.__stile_index_builds
    (name text primary key, builder uuid not null, claimed_until timestamptz not null)`);
}

/**
 * Claims a build, in the transaction of the caller, unless another process that lives has. Two that build at once would end
 * each other: one that waits for the lock of the table has a snapshot, for whose end the other waits.
 *
 * @param builder identifies the process
 */
export async function claimBuild(client: pg.Client, { name }: NewIndex, builder: string): Promise<boolean> {
  const { rowCount } = await client.query(
    `insert into drizzle.__stile_index_builds as build (name, builder, claimed_until)
    values ($1, $2, statement_timestamp() + interval '${CLAIM_SECONDS} seconds')
    on conflict (name) do update set builder = excluded.builder, claimed_until = excluded.claimed_until
      where build.claimed_until < statement_timestamp() or build.builder = excluded.builder`,
    [name, builder],
  );
  return rowCount === 1;
}

/** Forgets the claim on a build, once it is recorded that it is done. */
export async function forgetBuild(client: pg.Client, { name }: NewIndex): Promise<void> {
  await client.query("delete from drizzle.__stile_index_builds where name = $1", [name]);
}

/**
 * Builds an index that this process has claimed, without a lock that writes wait for (PostgreSQL manual, `CREATE INDEX
 * CONCURRENTLY`). It waits for transactions that began before it, for as long as they take. What an interrupted build has
 * left is waited for while PostgreSQL goes on with it, and dropped otherwise.
 *
 * @param client a connection without a transaction
 * @param openAnother another connection, for the claim and for looks at how far it is
 * @throws errors of the database, such as of a value that a unique index forbids, of a full disk, or of a name in use
 */
export async function buildIndex(
  client: pg.Client,
  index: NewIndex,
  builder: string,
  openAnother: <Result>(work: (client: pg.Client) => Promise<Result>) => Promise<Result>,
  log?: Pick<Logger, "info" | "warn">,
): Promise<void> {
  const isOver = new AbortController();
  const watched = openAnother((other) => watch(other, index, builder, isOver.signal, log)).catch(() => {});
  try {
    await endTimeouts(client);
    while (await isBuiltByOther(client, index)) await pause(LOOK_MS);
    if ((await stateOf(client, index.name)) === "invalid")
      await client.query(`DROP INDEX CONCURRENTLY IF EXISTS "${index.name}"`);
    if ((await stateOf(client, index.name)) === "missing") await client.query(index.statement);
  } finally {
    isOver.abort();
    await watched;
    await client.query("reset statement_timeout; reset lock_timeout").catch(() => {});
  }
}

/** Those of the role or of the database would end a build again and again. Others stay as they are behind a pooler. */
async function endTimeouts(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    "select name from pg_settings where name in ('statement_timeout', 'lock_timeout') and setting <> '0'",
  );
  for (const { name } of rows) await client.query(`set ${name} = 0`);
}

async function stateOf(client: pg.Client, name: string): Promise<"valid" | "invalid" | "missing"> {
  const { rows } = await client.query<{ isValid: boolean }>(
    `select indisvalid as "isValid" from pg_index where indexrelid = to_regclass(quote_ident($1))`,
    [name],
  );
  if (!rows[0]) return "missing";
  return rows[0].isValid ? "valid" : "invalid";
}

/** Returns the bytes of a table; of a distributed one, those at its nodes. */
async function sizeOf(client: pg.Client, table: string): Promise<number> {
  const { rows } = await client.query<{ bytes: string | null; hasCitus: boolean }>(
    `select pg_table_size(to_regclass(quote_ident($1)))::text as bytes,
      to_regclass('pg_catalog.pg_dist_partition') is not null as "hasCitus"`,
    [table],
  );
  if (!rows[0]?.hasCitus) return Number(rows[0]?.bytes ?? 0);
  const { rows: distributed } = await client.query<{ bytes: string }>(
    `select citus_table_size(logicalrelid)::text as bytes from pg_dist_partition
    where logicalrelid = to_regclass(quote_ident($1))`,
    [table],
  );
  return Number(distributed[0]?.bytes ?? rows[0].bytes ?? 0);
}

/** Whether another connection builds an index of the table: that of a process that was killed. */
async function isBuiltByOther(client: pg.Client, { table, name }: NewIndex): Promise<boolean> {
  // The coordinator of a cluster has no progress to tell: its statement waits for the nodes.
  const { rows } = await client.query(
    `select 1 from pg_stat_progress_create_index
    where datname = current_database() and pid <> pg_backend_pid() and relid = to_regclass(quote_ident($1))
    union all select 1 from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and state = 'active'
      and strpos(query, 'INDEX CONCURRENTLY "' || $2 || '"') > 0 limit 1`,
    [table, name],
  );
  return rows.length > 0;
}

/** Renews the claim on a build, and logs how far it is, until it is over. */
async function watch(
  client: pg.Client,
  { name, table }: NewIndex,
  builder: string,
  isOver: AbortSignal,
  log?: Pick<Logger, "info">,
): Promise<void> {
  log?.info({ index: name, table }, "an index is built while servers use its table");
  let told = performance.now();
  for (;;) {
    await pause(RENEW_MS, undefined, { signal: isOver });
    await client.query(
      `update drizzle.__stile_index_builds
      set claimed_until = statement_timestamp() + interval '${CLAIM_SECONDS} seconds'
      where name = $1 and builder = $2`,
      [name, builder],
    );
    if (performance.now() - told < PROGRESS_MS) continue;
    told = performance.now();
    const { rows } = await client.query<{ phase: string; percent: number | null; waits_for: number | null }>(
      `select phase, nullif(current_locker_pid, 0) as waits_for,
        round(100.0 * greatest(blocks_done, 0) / nullif(blocks_total, 0))::int as percent
      from pg_stat_progress_create_index
      where relid = to_regclass(quote_ident($1)) and datname = current_database() limit 1`,
      [table],
    );
    log?.info({ index: name, table, ...rows[0] }, "an index is being built");
  }
}

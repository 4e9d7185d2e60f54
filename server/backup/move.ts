import { randomUUID } from "node:crypto";
import type pg from "pg";
import { completeMigration, createTables, knownMigrations, migrateDatabase } from "../database/migrate.ts";
import { MOVED_FROM, MOVED_TO } from "../database/moved.ts";
import { BackupError } from "./backup-error.ts";
import {
  beginCopy,
  type CopiedTable,
  findTables,
  readRows,
  readSequences,
  setSequences,
  shown,
  summarize,
  withCopying,
  writeRows,
} from "./copied-tables.ts";
import type { Progress } from "./make-backup.ts";
import { createQueue, refuseFilled, refuseUnfit } from "./restore.ts";
import { areEqual, RowDigest, type TableSummary } from "./row-digest.ts";
import { putBack, type RulesOfTables, setAside } from "./set-aside.ts";

/** In the database that rows are moved into: the tables that are complete. */
const MOVED_TABLES = "drizzle.__stile_moved_tables";

/** Key of the advisory lock of a move. Any number that no other lock uses. */
const MOVE_LOCK = 0x57_11_20;

export interface MoveOptions {
  /** The default tenant with its configured name. */
  tenant: { id: string; name: string };
  /** Names the target without its password. */
  targetName: string;
  progress: Progress;
  /** Ends the move between two tables. */
  signal: AbortSignal;
}

/**
 * Copies the rows of a database into an empty one, table by table, and compares each. From its beginning no server starts on
 * either. After an interruption a further call goes on with the table that was not complete.
 *
 * @returns the tables with their rows
 * @throws BackupError if a server runs on the source, the target is unfit, or it holds rows of another database
 */
export async function moveDatabase(
  sourceUrl: string,
  targetUrl: string,
  options: MoveOptions,
): Promise<TableSummary[]> {
  return withCopying(targetUrl, (target) =>
    withCopying(sourceUrl, async (source) => {
      await refuseUnfit(target);
      const before = await stateOf(source, target);
      if (!before.atSource) await migrateDatabase(sourceUrl, options.tenant);
      const id = await mark(source, options.targetName);
      // No server writes from here on, so each attempt reads the same rows.
      const tables = await beginReading(source);
      if (!before.atTarget) await createTarget(target, tables, id);
      if (!before.isComplete) await copyTables(source, target, tables, options);
      const summaries = await readSummaries(target, tables);
      await source.query("commit");
      await source.query(`update ${MOVED_TO} set moved_at = now()`);
      return summaries;
    }),
  );
}

/** Lets servers use a database again whose rows were moved, or were to be. */
export async function undoMove(sourceUrl: string): Promise<void> {
  await withCopying(sourceUrl, (source) => source.query(`drop table if exists ${MOVED_TO}`));
}

/**
 * Reads how far a move has come: its id at both databases, null where it has not begun.
 *
 * @throws BackupError if the two databases are not of one move, or the target has tables already
 */
async function stateOf(source: pg.Client, target: pg.Client) {
  const [to] = await rowsOf<{ id: string; target: string }>(source, MOVED_TO);
  const [from] = await rowsOf<{ id: string; moved_at: Date | null }>(target, MOVED_FROM);
  if (!from) await refuseFilled(target);
  else if (from.id !== to?.id)
    throw new BackupError(
      "another database was moved, or is being moved, into this one: create an empty one",
    );
  return { atSource: to?.id ?? null, atTarget: from?.id ?? null, isComplete: from?.moved_at != null };
}

async function rowsOf<Row extends object>(client: pg.Client, table: string): Promise<Row[]> {
  const { rows: found } = await client.query<{ exists: boolean }>(
    "select to_regclass($1) is not null as exists",
    [table],
  );
  return found[0]?.exists ? (await client.query<Row>(`select * from ${table}`)).rows : [];
}

/** Begins the transaction that reads the source, and keeps a second move out of it. */
async function beginReading(source: pg.Client): Promise<CopiedTable[]> {
  await beginCopy(source, "isolation level repeatable read read only");
  const { rows } = await source.query(`select pg_try_advisory_xact_lock(${MOVE_LOCK}) as locked`);
  if (!rows[0]?.locked) throw new BackupError("another stile move runs on this database");
  if ((await completeMigration(source)) !== knownMigrations().at(-1)?.time)
    throw new BackupError("another version has begun to move the database: go on with that one");
  return findTables(source);
}

/**
 * Marks the source, and returns the id of its move. A server that starts from now on sees it.
 *
 * @throws BackupError if a server runs
 */
async function mark(source: pg.Client, targetName: string): Promise<string> {
  await source.query(`create table if not exists ${MOVED_TO} (
    is_only boolean primary key default true check (is_only), id uuid not null, target text not null, moved_at timestamptz)`);
  const { rowCount: isNew } = await source.query(
    `insert into ${MOVED_TO} (id, target) values ($1, $2) on conflict do nothing`,
    [randomUUID(), targetName],
  );
  const { rows: leases } = await source.query("select 1 from instances where leased_until > now() limit 1");
  if (leases.length > 0) {
    if (isNew) await source.query(`drop table ${MOVED_TO}`);
    throw new BackupError(
      "a server runs on this database: stop all of them, and wait a minute after one was killed",
    );
  }
  const { rows } = await source.query<{ id: string }>(`select id from ${MOVED_TO}`);
  return rows[0]?.id ?? "";
}

async function createTarget(target: pg.Client, tables: readonly CopiedTable[], id: string): Promise<void> {
  await beginCopy(target, "read write");
  await createTables(target, knownMigrations().at(-1)?.time ?? 0);
  await createQueue(target, tables);
  const rules = await setAside(target);
  await target.query(
    `create table ${MOVED_FROM} (id uuid not null, rules jsonb not null, moved_at timestamptz)`,
  );
  await target.query(
    `create table ${MOVED_TABLES} (name text primary key, rows bigint not null, digest text not null)`,
  );
  await target.query(`insert into ${MOVED_FROM} (id, rules) values ($1, $2)`, [id, JSON.stringify(rules)]);
  await target.query("commit");
}

async function copyTables(
  source: pg.Client,
  target: pg.Client,
  tables: readonly CopiedTable[],
  { progress, signal }: MoveOptions,
): Promise<void> {
  const done = new Set((await rowsOf<{ name: string }>(target, MOVED_TABLES)).map(({ name }) => name));
  for (const [index, table] of tables.entries()) {
    if (done.has(shown(table))) continue;
    if (signal.aborted) throw new BackupError("interrupted: the same command goes on");
    progress(table, index, tables.length);
    await beginCopy(target, "read write");
    await copyTable(source, target, table);
    await target.query("commit");
  }
  await beginCopy(target, "read write");
  await setSequences(target, await readSequences(source));
  const [{ rules } = { rules: { foreignKeys: [], triggers: [] } }] = await rowsOf<{ rules: RulesOfTables }>(
    target,
    MOVED_FROM,
  );
  await putBack(target, rules);
  await target.query(`update ${MOVED_FROM} set moved_at = now()`);
  await target.query("commit");
}

/** @throws BackupError if the rows at the target are others than those that were read */
async function copyTable(source: pg.Client, target: pg.Client, table: CopiedTable): Promise<void> {
  const digest = new RowDigest();
  async function* digested() {
    for await (const bytes of readRows(source, table)) {
      digest.update(bytes);
      yield bytes;
    }
  }
  await writeRows(target, table, digested());
  const { rows, digest: sum } = digest.summary();
  if (!areEqual(await summarize(target, table), { rows, digest: sum }))
    throw new BackupError(`the target has other rows in ${shown(table)} than were read`);
  await target.query(`insert into ${MOVED_TABLES} values ($1, $2, $3)`, [shown(table), rows, sum]);
}

async function readSummaries(target: pg.Client, tables: readonly CopiedTable[]): Promise<TableSummary[]> {
  const moved = await rowsOf<{ name: string; rows: string; digest: string }>(target, MOVED_TABLES);
  return tables.flatMap((table) => {
    const found = moved.find(({ name }) => name === shown(table));
    return found ? [{ rows: Number(found.rows), digest: found.digest }] : [];
  });
}

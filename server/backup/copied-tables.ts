import { pipeline } from "node:stream/promises";
import { getTableName } from "drizzle-orm";
import pg from "pg";
import { from as copyFrom, to as copyTo } from "pg-copy-streams";
import { streamOf } from "#db/connection";
import { tables } from "#db/tables";
import { withConnection } from "../database/migrate.ts";
import { QUEUE_SCHEMA, queueTables } from "../jobs/queue-schema.ts";
import { BackupError } from "./backup-error.ts";
import { RowDigest, type TableSummary } from "./row-digest.ts";

/** A table whose rows are copied, with its columns in their order. */
export interface CopiedTable {
  schema: string;
  name: string;
  columns: string[];
}

/** A sequence of the tables, with what it counts on from. */
export interface CopiedSequence {
  name: string;
  last_value: string;
  is_called: boolean;
}

const OWN_SCHEMA = "public";

/** Schemas that rows are copied into: a file names no others. */
export const copiedSchemas: readonly string[] = [OWN_SCHEMA, QUEUE_SCHEMA];

/** The name of a table for statements. */
const quoted = ({ schema, name }: Pick<CopiedTable, "schema" | "name">) =>
  `${pg.escapeIdentifier(schema)}.${pg.escapeIdentifier(name)}`;

/** The name of a table for people. */
export const shown = ({ schema, name }: Pick<CopiedTable, "schema" | "name">) =>
  schema === OWN_SCHEMA ? name : `${schema}.${name}`;

const columnList = ({ columns }: CopiedTable) => columns.map(pg.escapeIdentifier).join(", ");

/** Runs work that copies rows on a connection of its own. After an error the connection is cut. Parameters as of `withConnection`. */
export const withCopying: typeof withConnection = (url, work) =>
  withConnection(url, async (client) => {
    try {
      return await work(client);
    } catch (error) {
      // PostgreSQL may wait for its rows to be read, and would not see a farewell.
      streamOf(client).destroy();
      throw error;
    }
  });

/**
 * Begins a transaction in which values have one text form, whatever the settings of the server are.
 *
 * @param mode of the transaction, for instance `read only`
 */
export async function beginCopy(client: pg.Client, mode: string): Promise<void> {
  await client.query(`begin ${mode}`);
  const settings = {
    datestyle: "ISO",
    timezone: "UTC",
    intervalstyle: "postgres",
    extra_float_digits: "1",
    bytea_output: "hex",
    client_encoding: "UTF8",
    statement_timeout: "0",
    idle_in_transaction_session_timeout: "0",
  };
  for (const [name, value] of Object.entries(settings)) await client.query(`set local ${name} = '${value}'`);
}

/** Lists every declared table, and those of the queue of jobs if the database has one. */
export async function findTables(client: pg.Client): Promise<CopiedTable[]> {
  const declared = tables.map((table) => getTableName(table));
  const { rows } = await client.query<CopiedTable>(
    `select n.nspname as schema, c.relname as name,
      array_agg(a.attname::text order by a.attnum) as columns
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
    where c.relkind in ('r', 'p')
      and (n.nspname = $1 and c.relname = any ($2) or n.nspname = $3 and c.relname = any ($4))
    group by 1, 2`,
    [OWN_SCHEMA, declared, QUEUE_SCHEMA, queueTables],
  );
  const named = (schema: string, name: string) =>
    rows.find((row) => row.schema === schema && row.name === name);
  const missing = declared.find((name) => !named(OWN_SCHEMA, name));
  if (missing !== undefined) throw new BackupError(`the database has no table ${missing}`);
  // Jobs refer to their queue.
  return [
    ...declared.map((name) => named(OWN_SCHEMA, name)),
    ...queueTables.map((name) => named(QUEUE_SCHEMA, name)),
  ].filter((table) => table !== undefined);
}

/** Reads the sequences of the database's own schema. */
export async function readSequences(client: pg.Client): Promise<CopiedSequence[]> {
  const { rows } = await client.query<{ name: string }>(
    `select c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where c.relkind = 'S' and n.nspname = $1 order by 1`,
    [OWN_SCHEMA],
  );
  const sequences: CopiedSequence[] = [];
  for (const { name } of rows) {
    const { rows: values } = await client.query<Omit<CopiedSequence, "name">>(
      `select last_value::text, is_called from ${quoted({ schema: OWN_SCHEMA, name })}`,
    );
    for (const value of values) sequences.push({ name, ...value });
  }
  return sequences;
}

export async function setSequences(client: pg.Client, sequences: readonly CopiedSequence[]): Promise<void> {
  for (const { name, last_value, is_called } of sequences)
    await client.query("select setval($1::regclass, $2::bigint, $3)", [
      quoted({ schema: OWN_SCHEMA, name }),
      last_value,
      is_called,
    ]);
}

/** Streams the rows of a table as lines of PostgreSQL's text form. */
export function readRows(client: pg.Client, table: CopiedTable): AsyncIterable<Buffer> {
  // A partitioned table is copied by a query alone.
  return client.query(copyTo(`copy (select ${columnList(table)} from ${quoted(table)}) to stdout`));
}

/**
 * Writes rows into a table.
 *
 * @param rows as `readRows` streams them
 */
export async function writeRows(
  client: pg.Client,
  table: CopiedTable,
  rows: AsyncIterable<Buffer>,
): Promise<void> {
  await pipeline(rows, client.query(copyFrom(`copy ${quoted(table)} (${columnList(table)}) from stdin`)));
}

/** Reads all rows of a table, and summarizes them. */
export async function summarize(client: pg.Client, table: CopiedTable): Promise<TableSummary> {
  const digest = new RowDigest();
  for await (const bytes of readRows(client, table)) digest.update(bytes);
  return digest.summary();
}

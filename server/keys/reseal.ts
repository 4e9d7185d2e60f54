import { type SQL, sql } from "drizzle-orm";
import type { Database, Transaction } from "#db/client";
import { type SealedColumn, sealedByOther, sealedColumns } from "./sealed-columns.ts";
import { BrokenSealError, UnknownKeyError, type Vault } from "./vault.ts";

/** The result for one column. */
export interface Resealed {
  table: string;
  column: string;
  /** Number of values that were resealed by the first key. */
  moved: number;
  /** Ids of keys that sealed other values and are not configured. */
  unknown: string[];
  /** Number of values that stay because they were changed in the database. */
  broken: number;
}

/** Rows that one transaction changes; few, so that other transactions do not wait long. */
const BATCH_ROWS = 200;

/**
 * Reseals every sealed value by the first key, so that the other keys can be removed. May run at any time and
 * repeatedly.
 */
export async function reseal({ write }: Pick<Database, "write">, vault: Vault): Promise<Resealed[]> {
  const outcome: Resealed[] = [];
  for (const sealed of sealedColumns) {
    const { table, column } = sealed;
    const unknown = new Set<string>();
    let moved = 0;
    let broken = 0;
    let after: string[] | null = beforeFirstRow(sealed);
    while (after !== null) {
      const from: string[] = after;
      const batch = await write.transaction((tx) => resealBatch(tx, vault, sealed, from));
      for (const name of batch.unknown) unknown.add(name);
      moved += batch.moved;
      broken += batch.broken;
      after = batch.last;
    }
    outcome.push({ table, column, moved, unknown: [...unknown], broken });
  }
  return outcome;
}

/** The position before the first row of a table. */
export const beforeFirstRow = ({ key }: SealedColumn): string[] => key.map(() => "");

/** Counts the values of a column that the first key did not seal. */
export async function countOthers(
  { read }: Pick<Database, "read">,
  { keyIds }: Pick<Vault, "keyIds">,
  sealed: SealedColumn,
): Promise<number> {
  const { rows } = await read.execute<{ count: number }>(sql`
    select count(*)::int as count from ${sql.identifier(sealed.table)}
    where ${sealedByOther(sealed, keyIds.slice(0, 1))}`);
  return rows[0]?.count ?? 0;
}

/** The result for some rows of one column. */
export interface ResealedBatch {
  moved: number;
  /** Ids of keys that sealed skipped values and are not configured. */
  unknown: string[];
  /** Skipped values that were changed in the database. */
  broken: number;
  /** Primary key of the last row that was read; null if there are no more. */
  last: string[] | null;
}

/**
 * Reseals at most two hundred rows that follow a primary key. Values of unknown keys and
 * those that were changed in the database are skipped.
 */
export async function resealBatch(
  tx: Transaction,
  vault: Vault,
  sealed: SealedColumn,
  after: readonly string[],
): Promise<ResealedBatch> {
  const value = sql.identifier(sealed.column);
  const names = [...new Set([...sealed.key, ...sealed.reads])];
  // No lock: the rows are of any tenant, and those of a distributed database lie on several nodes.
  const { rows } = await tx.execute<SealedRow>(sql`
    select ${list(names.map(asText))}, ${value} as sealed_value from ${sql.identifier(sealed.table)}
    where ${sealedByOther(sealed, vault.keyIds.slice(0, 1))}
      and (${list(sealed.key.map(text))}) > (${list(after.map((part) => sql`${part}::text`))})
    order by ${list(sealed.key.map(text))} limit ${BATCH_ROWS}`);
  const unknown: string[] = [];
  let moved = 0;
  let broken = 0;
  for (const row of rows) {
    try {
      if (await resealRow(tx, vault, sealed, row)) moved += 1;
    } catch (error) {
      if (error instanceof UnknownKeyError) unknown.push(error.keyId);
      else if (error instanceof BrokenSealError) broken += 1;
      else throw error;
    }
  }
  const last = rows.at(-1);
  const more = last !== undefined && rows.length === BATCH_ROWS;
  return { moved, unknown, broken, last: more ? sealed.key.map((name) => last[name] ?? "") : null };
}

/** A row of a sealed column: its value, and as text its key and what the value is sealed for. */
type SealedRow = { sealed_value: Buffer } & Record<string, string>;

/**
 * Reseals the value of a row; one that another transaction has written meanwhile in place of that.
 *
 * @returns false if the row is gone, or the value no longer needs it
 * @throws UnknownKeyError or BrokenSealError if the value cannot be unsealed
 */
async function resealRow(
  tx: Transaction,
  vault: Vault,
  sealed: SealedColumn,
  row: SealedRow,
): Promise<boolean> {
  const first = vault.keyIds[0] ?? "";
  const table = sql.identifier(sealed.table);
  const value = sql.identifier(sealed.column);
  const context = sealed.context(row);
  // Compared by the types of the columns, so that the tenant among them names one node, and an index is used.
  const isThis = sql.join(
    sealed.key.map((name) => sql`${sql.identifier(name)} = ${row[name]}`),
    sql` and `,
  );
  const named = sealed.sealedBy ? sql`, ${sql.identifier(sealed.sealedBy)} = ${first}` : sql``;
  let present: Buffer | undefined = row.sealed_value;
  while (present) {
    const resealed = vault.seal(vault.unseal(present, context), context);
    const { rowCount } = await tx.execute(
      sql`update ${table} set ${value} = ${resealed}${named} where ${isThis} and ${value} = ${present}`,
    );
    if (rowCount === 1) return true;
    const { rows } = await tx.execute<{ sealed_value: Buffer }>(
      sql`select ${value} as sealed_value from ${table} where ${isThis} and ${sealedByOther(sealed, [first])}`,
    );
    present = rows[0]?.sealed_value;
  }
  return false;
}

const list = (parts: SQL[]) => sql.join(parts, sql`, `);

/** Primary keys of all types are compared as text. */
const text = (name: string) => sql`${sql.identifier(name)}::text collate "C"`;

const asText = (name: string) => sql`${sql.identifier(name)}::text as ${sql.identifier(name)}`;

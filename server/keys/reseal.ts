import { type SQL, sql } from "drizzle-orm";
import type { Database, Transaction } from "#db/client";
import { type SealedColumn, sealedByOther } from "./sealed-columns.ts";
import { UnknownKeyError, type Vault } from "./vault.ts";

/** What became of the values of a column. */
export interface Resealed {
  table: string;
  column: string;
  /** Values that are sealed by the first key now. */
  moved: number;
  /** Names of keys that sealed others, and are not configured. */
  unknown: string[];
}

/** Rows that one transaction locks, so that nobody waits for long. */
const BATCH = 200;

/**
 * Moves every sealed value under the first key, so that the others can go. May be run at any time, and again.
 *
 * @throws BrokenSealError when a value is not what was sealed; what was moved before stays moved
 */
export async function reseal(
  { write }: Pick<Database, "write">,
  vault: Vault,
  columns: readonly SealedColumn[],
): Promise<Resealed[]> {
  const outcome: Resealed[] = [];
  for (const sealed of columns) {
    const { table, column } = sealed;
    const unknown = new Set<string>();
    let moved = 0;
    let after: string[] | null = sealed.key.map(() => "");
    while (after !== null) {
      const from: string[] = after;
      const batch = await write.transaction((tx) => moveBatch(tx, vault, sealed, from));
      for (const name of batch.unknown) unknown.add(name);
      moved += batch.moved;
      after = batch.last;
    }
    outcome.push({ table, column, moved, unknown: [...unknown] });
  }
  return outcome;
}

interface Batch {
  moved: number;
  unknown: string[];
  /** Key of the last row that was looked at; null when there are no more. */
  last: string[] | null;
}

/** Moves the next rows behind a key. Those that cannot be opened are passed over. */
async function moveBatch(
  tx: Transaction,
  vault: Vault,
  sealed: SealedColumn,
  after: string[],
): Promise<Batch> {
  const first = vault.keyIds[0] ?? "";
  const table = sql.identifier(sealed.table);
  const value = sql.identifier(sealed.column);
  const names = [...sealed.key, ...(sealed.reads ?? [])];
  const { rows } = await tx.execute<{ sealed_value: Buffer } & Record<string, string>>(sql`
    select ${list(names.map(asText))}, ${value} as sealed_value from ${table}
    where ${sealedByOther(sealed, [first])} and (${list(sealed.key.map(text))}) > (${list(after.map((part) => sql`${part}::text`))})
    order by ${list(sealed.key.map(text))} limit ${BATCH} for update`);
  const unknown: string[] = [];
  let moved = 0;
  for (const row of rows) {
    const context = sealed.context(row);
    try {
      const resealed = vault.seal(vault.unseal(row.sealed_value, context), context);
      const named = sealed.sealedBy ? sql`, ${sql.identifier(sealed.sealedBy)} = ${first}` : sql``;
      const isThis = sql.join(
        sealed.key.map((name) => sql`${text(name)} = ${row[name]}`),
        sql` and `,
      );
      await tx.execute(sql`update ${table} set ${value} = ${resealed}${named} where ${isThis}`);
      moved += 1;
    } catch (error) {
      if (!(error instanceof UnknownKeyError)) throw error;
      unknown.push(error.keyId);
    }
  }
  const last = rows.at(-1);
  const more = last !== undefined && rows.length === BATCH;
  return { moved, unknown, last: more ? sealed.key.map((name) => last[name] ?? "") : null };
}

const list = (parts: SQL[]) => sql.join(parts, sql`, `);

/** Keys are compared as text, whatever their type. */
const text = (name: string) => sql`${sql.identifier(name)}::text collate "C"`;

const asText = (name: string) => sql`${sql.identifier(name)}::text as ${sql.identifier(name)}`;

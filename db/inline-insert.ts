import { sql } from "drizzle-orm";
import type { Transaction } from "./client.ts";

/** One row for one table. Names and types are written in the code, never taken from a request. */
export interface InlineInsert {
  /** Of the prepared statement that it becomes part of. */
  name: string;
  table: string;
  /** Column → its type in PostgreSQL, and the value. */
  row: Record<string, readonly [type: string, value: unknown]>;
}

/** A write of one row that another statement can carry (data-modifying CTE), which saves round trips. */
export type InlineWrite = ((tx: Transaction) => Promise<void>) & { inlineInsert: InlineInsert };

/** A write of one row that runs by itself or, by its `inlineInsert`, inside the statement before it. */
export function insertInline(insert: InlineInsert): InlineWrite {
  const write = async (tx: Transaction) => {
    const columns = Object.keys(insert.row).map((column) => sql.identifier(column));
    const values = Object.values(insert.row).map(([, value]) => sql`${sql.param(value)}`);
    const table = sql.identifier(insert.table);
    await tx.execute(
      sql`insert into ${table} (${sql.join(columns, sql`, `)}) values (${sql.join(values, sql`, `)})`,
    );
  };
  return Object.assign(write, { inlineInsert: insert });
}

/**
 * A statement that writes one row after another statement has matched: both happen, or neither.
 *
 * @param first UPDATE without RETURNING, with values $1 to $n
 * @param offset n
 */
export function withInlineInsert(first: string, offset: number, { table, row }: InlineInsert): string {
  const columns = Object.keys(row).join(", ");
  const values = Object.values(row).map(([type], index) => `$${offset + index + 1}::${type}`);
  return `with first as (${first} returning 1)
    insert into ${table} (${columns}) select ${values.join(", ")} from first`;
}

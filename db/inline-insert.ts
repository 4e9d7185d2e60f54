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

/** A write of one row that can share another statement, which saves a transaction its round trips. */
export type RidingWrite = ((tx: Transaction) => Promise<void>) & { riding: InlineInsert };

/** Makes the write of one row. It may be run by itself, or its `riding` may ride on the statement before it. */
export function ridingInsert(riding: InlineInsert): RidingWrite {
  const write = async (tx: Transaction) => {
    const columns = Object.keys(riding.row).map((column) => sql.identifier(column));
    const values = Object.values(riding.row).map(([, value]) => sql`${sql.param(value)}`);
    const table = sql.identifier(riding.table);
    await tx.execute(
      sql`insert into ${table} (${sql.join(columns, sql`, `)}) values (${sql.join(values, sql`, `)})`,
    );
  };
  return Object.assign(write, { riding });
}

/**
 * A statement that writes one row after another statement has matched: both happen, or neither.
 *
 * @param first UPDATE without RETURNING, with values $1 to $n
 * @param offset n
 */
export function ridingOn(first: string, offset: number, { table, row }: InlineInsert): string {
  const columns = Object.keys(row).join(", ");
  const values = Object.values(row).map(([type], index) => `$${offset + index + 1}::${type}`);
  return `with first as (${first} returning 1)
    insert into ${table} (${columns}) select ${values.join(", ")} from first`;
}

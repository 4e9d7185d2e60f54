import { sql } from "drizzle-orm";
import type { Transaction } from "./client.ts";

/** A row to insert. Names and types must be constants of the code, because they become part of the SQL text. */
export interface InlineInsert {
  /** Part of the name of the prepared statement that contains it. */
  name: string;
  table: string;
  /** Column → PostgreSQL type and value. */
  row: Record<string, readonly [type: string, value: unknown]>;
}

/** An insert that another statement can contain as a data-modifying CTE, which saves a round trip. */
export type InlineWrite = ((tx: Transaction) => Promise<void>) & { inlineInsert: InlineInsert };

/** Creates an insert that runs on its own or, through `inlineInsert`, as part of the preceding statement. */
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
 * Returns a statement that runs `first` and inserts the row only if `first` changed a row.
 *
 * @param first UPDATE without RETURNING, with parameters $1 to $n
 * @param offset n
 */
export function withInlineInsert(first: string, offset: number, { table, row }: InlineInsert): string {
  const columns = Object.keys(row).join(", ");
  const values = Object.values(row).map(([type], index) => `$${offset + index + 1}::${type}`);
  return `with first as (${first} returning 1)
    insert into ${table} (${columns}) select ${values.join(", ")} from first`;
}

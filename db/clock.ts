import { type Placeholder, type SQL, sql } from "drizzle-orm";
import type { ReadOnly } from "./client.ts";
import { sessions } from "./schema/sessions.ts";

/**
 * The database's clock, by which everything expires, as an expression.
 *
 * @param shift milliseconds to add, see `Environment.clockShift`
 */
export function databaseNow(shift: number | Placeholder): SQL<Date> {
  // Any column of the type tells Drizzle how to read the value.
  return sql`(clock_timestamp() + ${shift}::float8 * interval '1 millisecond')`.mapWith(
    sessions.expiresAt,
  ) as SQL<Date>;
}

/** The moment by that clock, for what is not asked in the same statement. */
export async function readNow(db: ReadOnly, shift: number): Promise<Date> {
  const [row] = await db.select({ now: databaseNow(shift) }).from(sql`(values (1)) as moment`);
  if (!row) throw new Error("the database did not tell the time");
  return row.now;
}

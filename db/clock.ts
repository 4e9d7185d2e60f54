import { type Placeholder, type SQL, sql } from "drizzle-orm";
import type { ReadOnly } from "./client.ts";
import { prepared } from "./prepared.ts";
import { sessions } from "./schema/sessions.ts";

/**
 * Returns an SQL expression for the time of the database's clock, which decides every expiry.
 *
 * @param shift milliseconds to add, see `Platform.clockShift`
 */
export function databaseNow(shift: number | Placeholder): SQL<Date> {
  // Drizzle decodes the value like any column of the same type.
  return sql`(clock_timestamp() + ${shift}::float8 * interval '1 millisecond')`.mapWith(
    sessions.expiresAt,
  ) as SQL<Date>;
}

const now = prepared("now", (db) =>
  db.select({ now: databaseNow(sql.placeholder("shift")) }).from(sql`(values (1)) as moment`),
);

/** Returns the time of that clock, for code that cannot read it within another statement. */
export async function readNow(db: ReadOnly, shift: number): Promise<Date> {
  const [row] = await now(db).execute({ shift });
  if (!row) throw new Error("the database returned no time");
  return row.now;
}

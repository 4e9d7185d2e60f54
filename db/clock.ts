import { type Placeholder, type SQL, sql } from "drizzle-orm";
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

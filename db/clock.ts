import { type Placeholder, type SQL, sql } from "drizzle-orm";
import type { ReadOnly } from "./client.ts";
import { prepared } from "./prepared.ts";
import { sessions } from "./schema/sessions.ts";

/**
 * Returns SQL for the time of the database's clock, which decides every expiry. It is a whole number of milliseconds, as
 * in the columns (`moment`) and in JavaScript; a rounded column could otherwise be ahead of the clock that set it.
 *
 * @param shift SQL for the milliseconds to add, see `Platform.clockShift`
 */
export function clockText(shift: string): string {
  const [before, after] = shiftedClock;
  return before + shift + after;
}

const shiftedClock = [
  "date_trunc('milliseconds', statement_timestamp() + ",
  "::float8 * interval '1 millisecond')",
] as const;

/** Returns the same as an SQL expression of Drizzle; `shift` in milliseconds. */
export function databaseNow(shift: number | Placeholder): SQL<Date> {
  const [before, after] = shiftedClock;
  // Drizzle decodes the value like any column of the same type.
  return sql`${sql.raw(before)}${shift}${sql.raw(after)}`.mapWith(sessions.expiresAt) as SQL<Date>;
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

import { type AnyColumn, type SQL, sql } from "drizzle-orm";

/**
 * Returns the SQL that stores the signature counter of an assertion (WebAuthn Level 3, 6.1.1). The counter is an unsigned
 * 32-bit number, so it is cast to `bigint`: compared with a literal, PostgreSQL would take it for a signed one.
 *
 * @param stored the column of the credential's counter
 * @param received the counter of the assertion
 * @returns `next`: the value to store; `grows`: the condition that it has grown, or that the authenticator does not count
 */
export function advanceSignCount(stored: AnyColumn, received: number): { next: SQL<number>; grows: SQL } {
  const count = sql`${received}::bigint`;
  return {
    next: sql<number>`greatest(${stored}, ${count})`,
    grows: sql`(${stored} < ${count} or (${stored} = 0 and ${count} = 0))`,
  };
}

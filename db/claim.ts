import type pg from "pg";
import type { Database } from "./client.ts";
import type { Statement } from "./part.ts";

/** What claims work that any process may do. */
export type ClaimPool = Pick<Database, "claim" | "prepares" | "hasJustMoved">;

/**
 * Runs a statement that claims work, and returns its rows. Claims nothing while the pools have just moved to another primary.
 *
 * @param statement its name is that of a prepared statement, where there are such
 */
export async function claimWork<Row extends pg.QueryResultRow>(
  { claim: { $client: pool }, prepares, hasJustMoved }: ClaimPool,
  { name, ...statement }: Statement,
): Promise<Row[]> {
  if (hasJustMoved()) return [];
  const connection = await pool.connect();
  let failure: Error | undefined;
  try {
    // They may have moved while it waited for a connection.
    if (hasJustMoved()) return [];
    const { rows } = await connection.query<Row>({ ...(prepares && name ? { name } : {}), ...statement });
    return rows;
  } catch (error) {
    failure = error as Error;
    throw error;
  } finally {
    connection.release(failure);
  }
}

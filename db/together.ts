import type { Database } from "./client.ts";
import { isDistributed } from "./distribution.ts";
import { asConflict } from "./errors.ts";
import { runStatements } from "./extended-query.ts";
import { type Part, statementsOf } from "./part.ts";

/**
 * Runs parts as one transaction in one round trip: their statements are sent together with one Sync, so PostgreSQL runs
 * them in an implicit transaction, without BEGIN and COMMIT (PostgreSQL manual, 54.2.3).
 *
 * @param pool `claim`: the commit does not wait for the disk
 * @returns the values that parts return, by their names
 * @throws ConflictError if a part refuses; nothing was written
 */
export async function runTogether<Returned extends object>(
  database: Pick<Database, "write" | "claim" | "prepares">,
  parts: readonly Part[],
  pool: "write" | "claim" = "write",
): Promise<Partial<Returned>> {
  const { prepares } = database;
  const named = statementsOf(parts, await isDistributed(database));
  const statements = prepares ? named : named.map(({ text, values }) => ({ text, values }));
  const results = await runStatements(database[pool].$client, statements).catch((error: unknown) => {
    throw asConflict(error);
  });
  return Object.assign({}, ...results.map(({ rows }) => rows[0]));
}

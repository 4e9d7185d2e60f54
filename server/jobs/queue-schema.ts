import { getConstructionPlans } from "pg-boss";

/** Tables of the queue whose rows a copy of the database needs: the kinds of jobs, and the jobs. */
export const queueTables = ["queue", "job"] as const;

/** Schema of the queue in the database. */
export const QUEUE_SCHEMA = "pgboss";

/**
 * Returns the statements that create the queue of this version, for the transaction of the caller.
 *
 * @throws Error if pg-boss writes them in another form than before
 */
export function queueStatements(): string {
  const plan = getConstructionPlans(QUEUE_SCHEMA, { createSchema: true });
  const [, statements] = /^\s*BEGIN;([\s\S]*)COMMIT;\s*$/.exec(plan) ?? [];
  if (statements === undefined) throw new Error("the statements of pg-boss are no transaction");
  return statements;
}

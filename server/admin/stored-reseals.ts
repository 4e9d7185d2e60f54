import { and, eq, sql } from "drizzle-orm";
import { schema, type Transaction } from "#db/client";
import { endWork, Gone, unfinishedStates, type Work } from "../jobs/work-in-hand.ts";

/** Moves of sealed values, as stored. */

const { reseals } = schema;

export const resealStates = ["waiting", "running", "finished", "failed", "cancelled"] as const;

export type StoredReseal = typeof reseals.$inferSelect;

export const resealWork = (id: string): Work<typeof reseals> => ({
  table: reseals,
  row: eq(reseals.id, id),
  name: "the move",
});

/** Stores how far the work is. @throws Gone if it was cancelled */
export async function storeColumns(tx: Transaction, { id, columns }: StoredReseal): Promise<void> {
  const updated = await tx
    .update(reseals)
    .set({ columns, updatedAt: sql`statement_timestamp()` })
    .where(and(eq(reseals.id, id), eq(reseals.state, "running")))
    .returning({ id: reseals.id });
  if (updated.length === 0) throw new Gone();
}

/** Ends the work, unless it was cancelled. @param end `failure`: why it was given up; null if it is finished */
export async function endReseal(
  tx: Transaction,
  id: string,
  { failure }: { failure: string | null },
): Promise<void> {
  const state = failure === null ? "finished" : "failed";
  await endWork(tx, resealWork(id), unfinishedStates, { state, failure });
}

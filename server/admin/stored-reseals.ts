import { and, eq, inArray, isNull, lt, or, sql } from "drizzle-orm";
import { type Databases, schema, type Transaction } from "#db/client";

/** Moves of sealed values, as stored. */

const { reseals } = schema;

export const resealStates = ["waiting", "running", "finished", "failed", "cancelled"] as const;

export type StoredReseal = typeof reseals.$inferSelect;

const openStates = ["waiting", "running"] as const;

const now = sql`clock_timestamp()`;

/** The work was cancelled meanwhile. */
export class Gone extends Error {}

/**
 * Takes the work in hand, for a job.
 *
 * @returns `held` if another process has it; null if it is not to be done any more
 */
export function claimReseal(
  { write }: Pick<Databases["database"], "write">,
  id: string,
  forMs: number,
): Promise<StoredReseal | "held" | null> {
  return write.transaction(async (tx) => {
    const [claimed] = await tx
      .update(reseals)
      .set({
        state: "running",
        claimedUntil: sql`clock_timestamp() + make_interval(secs => ${forMs / 1000})`,
        updatedAt: now,
      })
      .where(
        and(
          eq(reseals.id, id),
          inArray(reseals.state, [...openStates]),
          or(isNull(reseals.claimedUntil), lt(reseals.claimedUntil, now)),
        ),
      )
      .returning();
    if (claimed) return claimed;
    const [found] = await tx.select({ state: reseals.state }).from(reseals).where(eq(reseals.id, id));
    return found?.state === "running" ? "held" : null;
  });
}

/** Lets go of work that is to be continued. */
export async function releaseReseal(
  { write }: Pick<Databases["database"], "write">,
  id: string,
): Promise<void> {
  await write.update(reseals).set({ claimedUntil: null }).where(eq(reseals.id, id));
}

/** Stores how far the work is. @throws Gone if it was cancelled */
export async function storeColumns(tx: Transaction, { id, columns }: StoredReseal): Promise<void> {
  const updated = await tx
    .update(reseals)
    .set({ columns, updatedAt: now })
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
  await tx
    .update(reseals)
    .set({ state: failure === null ? "finished" : "failed", failure, claimedUntil: null, updatedAt: now })
    .where(and(eq(reseals.id, id), inArray(reseals.state, [...openStates])));
}

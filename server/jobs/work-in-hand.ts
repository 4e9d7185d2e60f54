import { and, inArray, isNull, lt, or, type SQL, sql } from "drizzle-orm";
import type { PgColumn, PgTable, PgUpdateSetSource } from "drizzle-orm/pg-core";
import type { Databases, Transaction } from "#db/client";
import { type JobKind, Unfinished } from "./job-kind.ts";

/**
 * Work that a job does in several attempts, as a row with how far it is. One process at a time has it in hand: a job may
 * be run again while an attempt that was taken for killed goes on.
 */

/** The work of one row. */
export interface Work<Table extends WorkTable> {
  table: Table;
  row: SQL | undefined;
  /** The work for the log, with its article. */
  name: string;
}

type WorkTable = PgTable & { state: PgColumn; claimedUntil: PgColumn; updatedAt: PgColumn };

/** States of work that a job is to begin or to go on with. */
export const unfinishedStates = ["waiting", "running"] as const;

/** When an attempt takes no more of the work. The next attempt goes on after it. */
export const SLICE_MS = 20_000;

/** The limit of an attempt, below the time after which the job of a killed process is released. */
const ATTEMPT_SECONDS = 38;

/** For how long a process has the work in hand. */
const CLAIM_MS = 39_000;

/** The job is rare, and its next attempt is in no hurry. */
const SEARCH_INTERVAL_MS = 5_000;

const LIFETIME_SECONDS = 86_400;

/** The longest pause between attempts, and the one before work is tried again that another process has in hand. */
const MAX_PAUSE_SECONDS = 10;

/** Why work is given up whose job has expired. */
export const NOT_FINISHED = "It was not finished within a day.";

/** How jobs of such work are run. */
export const workInSlices = {
  concurrency: 1,
  searchIntervalMs: SEARCH_INTERVAL_MS,
  attemptSeconds: ATTEMPT_SECONDS,
  lifetimeSeconds: () => LIFETIME_SECONDS,
  maxPauseSeconds: () => MAX_PAUSE_SECONDS,
} satisfies Partial<JobKind<never>>;

/** The work was cancelled meanwhile: it is not tried again. */
export class Gone extends Error {}

/**
 * Does work that no other process has in hand. Does nothing if it is not to be done any more.
 *
 * @param attempt is given the row. If it throws anything but `Gone`, the work is let go, for the next attempt
 * @throws Unfinished if another process has the work in hand
 */
export async function takeInHand<Table extends WorkTable>(
  database: Pick<Databases["database"], "write">,
  work: Work<Table>,
  attempt: (row: Table["$inferSelect"]) => Promise<void>,
): Promise<void> {
  const claimed = await claim(database, work);
  if (claimed === "held")
    throw new Unfinished(
      `another process has ${work.name} in hand, or had it and was killed`,
      MAX_PAUSE_SECONDS,
    );
  if (claimed === null) return;
  try {
    await attempt(claimed);
  } catch (error) {
    if (error instanceof Gone) return;
    await release(database, work);
    throw error;
  }
}

function claim(
  { write }: Pick<Databases["database"], "write">,
  { table, row }: Pick<Work<WorkTable>, "table" | "row">,
) {
  return write.transaction(async (tx) => {
    const now = sql`statement_timestamp()`;
    const [claimed] = await tx
      .update(table)
      .set({
        state: "running",
        claimedUntil: sql`statement_timestamp() + make_interval(secs => ${CLAIM_MS / 1000})`,
        updatedAt: now,
      })
      .where(
        and(
          row,
          inArray(table.state, [...unfinishedStates]),
          or(isNull(table.claimedUntil), lt(table.claimedUntil, now)),
        ),
      )
      .returning();
    if (claimed) return claimed;
    const [found] = await tx.select({ state: table.state }).from(table).where(row);
    return found?.state === "running" ? "held" : null;
  });
}

async function release(
  { write }: Pick<Databases["database"], "write">,
  { table, row }: Pick<Work<WorkTable>, "table" | "row">,
): Promise<void> {
  await write.update(table).set({ claimedUntil: null }).where(row);
}

/** Ends work that is in one of the states. @returns whether it was */
export async function endWork<Table extends WorkTable>(
  tx: Transaction,
  { table, row }: Pick<Work<Table>, "table" | "row">,
  states: readonly Table["$inferSelect"]["state"][],
  end: PgUpdateSetSource<Table>,
): Promise<boolean> {
  const of: WorkTable = table;
  const ended = await tx
    .update(of)
    .set({ ...end, claimedUntil: null, updatedAt: sql`statement_timestamp()` })
    .where(and(row, inArray(of.state, [...states])))
    .returning({ state: of.state });
  return ended.length > 0;
}

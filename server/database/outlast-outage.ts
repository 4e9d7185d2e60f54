import { setTimeout as pause } from "node:timers/promises";
import { isDatabaseUnreachable, isNodeUnreachable, isReadOnly } from "#db/errors";

/** Longer than a failover takes: with Patroni's defaults, 40 seconds. */
const OUTAGE_MS = 120_000;

const PAUSE_MS = 200;

/**
 * Whether a write failed because no database takes it now. A node of a distributed database that is down is no such outage:
 * to wait for it would hold up what is done for the tenants of the others.
 */
export const isOutage = (error: unknown) =>
  isReadOnly(error) || (isDatabaseUnreachable(error) && !isNodeUnreachable(error));

/**
 * Runs a write again until the database takes it. For what became of work in hand: for want of its record, what was done
 * would be done again, and what has failed would wait for the end of a lease.
 *
 * @param write changes nothing if it was committed before and its answer was lost
 * @param signal ends the attempts
 * @throws the last error, after two minutes; at once, an error that has another cause than the outage of the database
 */
export async function outlastOutage<Result>(
  write: () => Promise<Result>,
  signal: AbortSignal,
): Promise<Result> {
  const deadline = performance.now() + OUTAGE_MS;
  for (;;) {
    try {
      return await write();
    } catch (error) {
      if (!isOutage(error) || signal.aborted || performance.now() > deadline) throw error;
    }
    // Aborted, it makes a last attempt.
    await pause(PAUSE_MS, undefined, { signal }).catch(() => {});
  }
}

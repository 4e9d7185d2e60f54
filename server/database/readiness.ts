import { setTimeout as wait } from "node:timers/promises";
import type { QueryResult } from "pg";
import type { Database } from "#db/client";
import { isDatabaseUnreachable, isDiskFull, isReadOnly } from "#db/errors";
import { type Renewed, renewalOf } from "./instances.ts";
import { OutgrownError, thisRelease } from "./releases.ts";
import type { Standing } from "./standing.ts";

/** Why no login can succeed now. */
export const notReadyReasons = [
  "database_unreachable",
  "database_read_only",
  "database_disk_full",
  "database_rejects_writes",
  "database_outgrown",
] as const;

export type NotReadyReason = (typeof notReadyReasons)[number];

export type ReadinessVerdict = { ok: true } | { ok: false; reason: NotReadyReason; error: unknown };

/** Whether this process can serve. */
export interface Readiness {
  /** Tries a write. Checks that overlap share one, and answer within `CHECK_TIMEOUT_MS`. */
  check(): Promise<ReadinessVerdict>;
}

/** A database that does not answer in this time counts as unreachable. */
const CHECK_TIMEOUT_MS = 1_400;

/** A write that succeeded speaks for this time, so that a flood of checks costs two writes a second. */
const SUCCESS_HOLDS_MS = 500;

/** Rows of a result that PostgreSQL has to put into a file of about 100 kB, above 64 kB of `work_mem`. */
const SPILLED_ROWS = 8_192;

/** Creates the check of a process. */
export function createReadiness(
  { write }: Pick<Database, "write">,
  instanceId: string,
  standing: Pick<Standing, "heed" | "outgrownBy">,
): Readiness {
  let running: Promise<ReadinessVerdict> | null = null;
  let succeededAt = Number.NEGATIVE_INFINITY;

  async function tryOnce(): Promise<ReadinessVerdict> {
    try {
      standing.heed(await tryWrite(write.$client, instanceId));
      succeededAt = performance.now();
      return outgrown() ?? { ok: true };
    } catch (error) {
      return { ok: false, reason: reasonOf(error), error };
    }
  }

  function outgrown(): ReadinessVerdict | null {
    const by = standing.outgrownBy;
    return by && { ok: false, reason: "database_outgrown", error: new OutgrownError(thisRelease(), by) };
  }

  return {
    async check() {
      const refused = outgrown();
      if (refused) return refused;
      if (performance.now() - succeededAt < SUCCESS_HOLDS_MS) return { ok: true };
      running ??= tryOnce().finally(() => {
        running = null;
      });
      const error = new Error("the database does not answer");
      const late: ReadinessVerdict = { ok: false, reason: "database_unreachable", error };
      return Promise.race([running, wait(CHECK_TIMEOUT_MS, late, { ref: false })]);
    },
  };
}

/**
 * Renews the lease of this process durably, which overwrites one row, and makes PostgreSQL write a temporary file: the row
 * has room on its page even if the disk is full, while a login needs new pages. Neither leaves anything behind. A
 * connection that does not answer is destroyed, so that the next check gets another one.
 *
 * @returns the releases that use the database
 * @throws the error of the driver
 */
async function tryWrite(
  pool: Database["write"]["$client"],
  instanceId: string,
): Promise<Renewed["releases"]> {
  const connection = await pool.connect();
  let isHung = false;
  const giveUp = setTimeout(() => {
    isHung = true;
    connection.release(true);
  }, CHECK_TIMEOUT_MS);
  try {
    // One result for each statement.
    const results = (await connection.query(`begin; set local work_mem = '64kB'; ${renewalOf(instanceId)};
      select count(*) from generate_series(1, ${SPILLED_ROWS}); commit`)) as unknown as QueryResult<Renewed>[];
    if (!isHung) connection.release();
    return results.flatMap(({ rows }) => rows).find(({ releases }) => releases)?.releases ?? [];
  } catch (error) {
    // It is still in the failed transaction.
    if (!isHung) connection.release(true);
    throw error;
  } finally {
    clearTimeout(giveUp);
  }
}

function reasonOf(error: unknown): NotReadyReason {
  if (isReadOnly(error)) return "database_read_only";
  if (isDiskFull(error)) return "database_disk_full";
  return isDatabaseUnreachable(error) ? "database_unreachable" : "database_rejects_writes";
}

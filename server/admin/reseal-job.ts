import { z } from "zod";
import type { Databases } from "#db/client";
import { audit, commandLine } from "../audit/audit.ts";
import type { AuditOutputs } from "../audit/audit-output.ts";
import type { Tenant } from "../config/tenant.ts";
import type { Actor } from "../context/client.ts";
import { type JobKind, Unfinished } from "../jobs/job-kind.ts";
import { NOT_FINISHED, SLICE_MS, takeInHand, workInSlices } from "../jobs/work-in-hand.ts";
import { beforeFirstRow, countOthers, resealBatch } from "../keys/reseal.ts";
import { type SealedColumn, sealedColumns } from "../keys/sealed-columns.ts";
import type { Sealing } from "../keys/vault.ts";
import type { OnPlatform } from "../lib/platform.ts";
import { endReseal, resealWork, type StoredReseal, storeColumns } from "./stored-reseals.ts";

/** Moves all sealed values under the first secret key. */
export interface ResealJob {
  name: "reseal_secrets";
  resealId: string;
  /** Who has begun it, for the audit log. */
  by: Pick<Actor, "apiKey" | "operator">;
}

const stored = z.object({
  resealId: z.uuid(),
  // Jobs of former versions have none.
  by: z
    .object({
      apiKey: z.string().exactOptional(),
      operator: z.object({ tenantId: z.uuid(), userId: z.uuid() }).exactOptional(),
    })
    .default({}),
});

type Process = Databases & Sealing & OnPlatform & AuditOutputs & { tenant: Tenant };

/**
 * The job that moves sealed values under the first secret key. Each batch of rows is committed with how far the work is, so an
 * attempt that is interrupted, by a crash as well, is continued by the next one.
 */
export function resealSecrets(options: Process): JobKind<ResealJob> {
  const { database } = options;
  return {
    ...workInSlices,
    store: ({ resealId, by }) => ({ resealId, by }) satisfies z.output<typeof stored>,
    describe: (row) => ({ resealId: stored.safeParse(row).data?.resealId }),
    recipient: () => undefined,
    recordsEnd: (row) => async (tx) => {
      const { data } = stored.safeParse(row);
      if (data) await endReseal(tx, data.resealId, { failure: NOT_FINISHED });
    },

    async run(row, { signal, cause, now }) {
      const { resealId, by } = stored.parse(row);
      await takeInHand(database, resealWork(resealId), async (claimed) => {
        // While servers get a new key one after the other, the job is one of those that have it first.
        if (options.vault.keyIds[0] !== claimed.keyId)
          throw new Unfinished("the first secret key of this process is another one", 10);
        await resealColumns(options, claimed, performance.now() + SLICE_MS, signal);
        const moved = claimed.columns.reduce((total, column) => total + column.moved, 0);
        const client = { ...commandLine, ...by, userAgent: "", requestId: cause.request_id ?? null };
        const context = { runtime: options, tenant: options.tenant, client, now: now() };
        await database.write.transaction(async (tx) => {
          await endReseal(tx, resealId, { failure: null });
          await audit(context, "secrets_resealed", { key: claimed.keyId, moved })(tx);
        });
      });
      return [];
    },
  };
}

/** Moves the values of one column after the other. What is done already is not repeated. */
async function resealColumns(
  { database, vault }: Process,
  reseal: StoredReseal,
  until: number,
  signal: AbortSignal,
): Promise<void> {
  for (const column of reseal.columns) {
    const sealed = columnOf(column);
    // A later version no longer has it.
    if (!sealed) column.done = true;
    if (!sealed || column.done) continue;
    column.total ??= await countOthers(database, vault, sealed);
    while (!column.done) {
      signal.throwIfAborted();
      if (performance.now() > until) throw new Unfinished("not all values are moved yet", 1);
      await database.write.transaction(async (tx) => {
        const from = column.after.length === 0 ? beforeFirstRow(sealed) : column.after;
        const batch = await resealBatch(tx, vault, sealed, from);
        column.moved += batch.moved;
        column.broken = (column.broken ?? 0) + batch.broken;
        column.unknown = [...new Set([...column.unknown, ...batch.unknown])];
        column.after = batch.last ?? [];
        column.done = batch.last === null;
        await storeColumns(tx, reseal);
      });
    }
  }
}

const columnOf = ({ table, column }: { table: string; column: string }): SealedColumn | undefined =>
  sealedColumns.find((sealed) => sealed.table === table && sealed.column === column);

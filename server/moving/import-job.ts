import { z } from "zod";
import type { Databases } from "#db/client";
import type { AuditOutputs } from "../audit/audit-output.ts";
import type { WakesWebhooks } from "../events/emit.ts";
import { type JobKind, Unfinished } from "../jobs/job-kind.ts";
import { NOT_FINISHED, SLICE_MS, takeInHand, workInSlices } from "../jobs/work-in-hand.ts";
import type { Sealing } from "../keys/vault.ts";
import type { OnPlatform } from "../lib/platform.ts";
import type { Tenants } from "../tenants/tenants.ts";
import { formNames } from "./forms/index.ts";
import { ImportError } from "./import-error.ts";
import type { ImportReport } from "./import-report.ts";
import { importUsers } from "./import-users.ts";
import {
  deleteRefusals,
  failImport,
  finishImport,
  importWork,
  inputHashOf,
  readPiece,
  type StoredImport,
  storeRefusals,
} from "./uploaded-import.ts";

/** Checks or imports an uploaded file. */
export interface ImportJob {
  name: "import_users";
  tenantId: string;
  importId: string;
}

const stored = z.object({ tenantId: z.uuid(), importId: z.uuid() });

type Process = Databases & Sealing & OnPlatform & AuditOutputs;

/**
 * The job of an uploaded file. Each batch is committed with how far the import is, so an attempt that is interrupted, by a
 * crash as well, is continued by the next one: no user is imported twice or left out. A check is repeated as a whole.
 */
export function importUploaded(
  options: Process & { tenants: Pick<Tenants, "byId">; webhooks: WakesWebhooks["webhooks"] },
): JobKind<ImportJob> {
  const { tenants, database } = options;
  return {
    ...workInSlices,
    store: ({ tenantId, importId }) => ({ tenantId, importId }) satisfies z.output<typeof stored>,
    describe: (row) => stored.safeParse(row).data ?? {},
    recipient: () => undefined,
    recordsEnd: (row) => async (tx) => {
      const { data } = stored.safeParse(row);
      if (data) await failImport(tx, data, NOT_FINISHED);
    },

    async run(row, { signal, cause }) {
      const key = stored.parse(row);
      const tenant = await tenants.byId(key.tenantId);
      if (!tenant) return [];
      await takeInHand(database, importWork(key), async (claimed) => {
        const runtime = { ...options, config: tenant.config };
        const pieces = piecesOf(options, claimed, performance.now() + SLICE_MS, signal);
        try {
          const result = await importUsers(
            runtime,
            tenant,
            pieces,
            {
              form: formNames.find((name) => name === claimed.form) ?? null,
              providers: claimed.providers,
              dryRun: claimed.checks,
              resume: true,
              emitEvents: claimed.emitsEvents,
              inputHash: inputHashOf(key.importId),
              actor: { ip: null, userAgent: "", requestId: cause.request_id ?? null },
              finish: (tx, counts) => finishImport(tx, key, "imported", counts),
            },
            reportOf(options, claimed),
          );
          if (claimed.checks)
            await database.write.transaction((tx) => finishImport(tx, key, "checked", result));
        } catch (error) {
          if (!(error instanceof ImportError)) throw error;
          // A file that was cancelled stays so.
          await database.write.transaction((tx) => failImport(tx, key, error.message));
        }
      });
      return [];
    },
  };
}

/** Reads the pieces one after the other, as they are needed. A check is not interrupted. */
async function* piecesOf(
  { database, vault }: Databases & Sealing,
  { tenantId, id, pieces, checks }: StoredImport,
  until: number,
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  for (let number = 1; number <= pieces; number += 1) {
    signal.throwIfAborted();
    if (!checks && performance.now() > until) throw new Unfinished("the file is not read to its end yet", 1);
    const piece = await readPiece({ database, vault }, { tenantId, importId: id, number });
    if (piece === null) throw new ImportError("The file is gone: it was not imported within a day.");
    yield piece;
  }
}

/** Stores refused records. Its length is the number of the last record that was refused. */
function reportOf({ database }: Databases, of: StoredImport): ImportReport {
  let last = 0;
  return {
    async stage(refusals, tx) {
      const length = Math.max(last, ...refusals.map(({ record }) => record));
      if (tx) await storeRefusals(tx, of, refusals);
      else await database.write.transaction((own) => storeRefusals(own, of, refusals));
      return length;
    },
    accept(refusals) {
      last = Math.max(last, ...refusals.map(({ record }) => record));
    },
    async resume(length) {
      await database.write.transaction((tx) => deleteRefusals(tx, of, length));
      last = length;
    },
    close: async () => {},
  };
}

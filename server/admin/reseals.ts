import { count, desc, eq, sql } from "drizzle-orm";
import { type Databases, schema } from "#db/client";
import { violatedUnique } from "#db/errors";
import { audit } from "../audit/audit.ts";
import type { AuditOutputs } from "../audit/audit-output.ts";
import type { Tenant } from "../config/tenant.ts";
import type { Actor } from "../context/client.ts";
import { commitWithJobs } from "../jobs/commit-with-jobs.ts";
import type { Enqueuing } from "../jobs/jobs.ts";
import { sealedColumns } from "../keys/sealed-columns.ts";
import type { Sealing } from "../keys/vault.ts";
import type { OnPlatform } from "../lib/platform.ts";
import { type AdminVerdict, notFound, rejectAdmin } from "./rejections.ts";
import type { ResealJob } from "./reseal-job.ts";
import type { StoredReseal } from "./stored-reseals.ts";

const { reseals } = schema;

type Shown = AdminVerdict<{ shown: StoredReseal }>;

interface ResealContext {
  runtime: Databases & OnPlatform & Sealing & AuditOutputs & Enqueuing<ResealJob>;
  tenant: Tenant;
  client: Actor;
  now: Date;
}

/** Begins to move all sealed values under the first secret key. One move runs at a time. */
export async function beginReseal(context: ResealContext): Promise<Shown> {
  const { runtime } = context;
  const id = runtime.platform.uuid();
  const columns = sealedColumns.map(({ table, column }) => ({
    table,
    column,
    total: null,
    moved: 0,
    unknown: [],
    broken: 0,
    after: [],
    done: false,
  }));
  const { apiKey, operator } = context.client;
  const by = { ...(apiKey === undefined ? {} : { apiKey }), ...(operator ? { operator } : {}) };
  const job: ResealJob = { name: "reseal_secrets", resealId: id, by };
  try {
    return await commitWithJobs(runtime, [job], context, async (tx): Promise<Shown> => {
      const [begun] = await tx
        .insert(reseals)
        .values({ id, state: "waiting", keyId: runtime.vault.keyIds[0] ?? "", columns })
        .returning();
      await audit(context, "secrets_reseal_begun", { key: runtime.vault.keyIds[0] ?? null })(tx);
      return begun ? { ok: true, shown: begun } : notFound;
    });
  } catch (error) {
    if (violatedUnique(error) !== "reseals_open") throw error;
    return rejectAdmin("conflict", "The values are being moved already.");
  }
}

/** Cancels a move. What was moved stays under the first key. */
export async function cancelReseal(context: ResealContext, id: string): Promise<Shown> {
  const { runtime } = context;
  return runtime.database.write.transaction(async (tx): Promise<Shown> => {
    const [found] = await tx.select().from(reseals).where(eq(reseals.id, id)).for("no key update");
    if (!found) return notFound;
    if (found.state === "cancelled") return { ok: true, shown: found };
    if (found.state === "finished" || found.state === "failed")
      return rejectAdmin("conflict", `The move is ${found.state}.`);
    const [cancelled] = await tx
      .update(reseals)
      .set({ state: "cancelled", updatedAt: sql`statement_timestamp()` })
      .where(eq(reseals.id, id))
      .returning();
    await audit(context, "secrets_reseal_cancelled", { key: found.keyId })(tx);
    return cancelled ? { ok: true, shown: cancelled } : notFound;
  });
}

/** Shows a move, with how far it is. */
export async function showReseal({ runtime }: { runtime: Databases }, id: string): Promise<Shown> {
  const [found] = await runtime.database.read.select().from(reseals).where(eq(reseals.id, id));
  return found ? { ok: true, shown: found } : notFound;
}

/** Lists moves, the newest first. */
export async function listReseals(
  { runtime }: { runtime: Databases },
  page: { number: number; size: number },
): Promise<{ shown: StoredReseal[]; total: number }> {
  const { read } = runtime.database;
  const [counted] = await read.select({ total: count() }).from(reseals);
  const shown = await read
    .select()
    .from(reseals)
    .orderBy(desc(reseals.createdAt), desc(reseals.id))
    .limit(page.size)
    .offset((page.number - 1) * page.size);
  return { shown, total: counted?.total ?? 0 };
}

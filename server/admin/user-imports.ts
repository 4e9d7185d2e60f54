import { and, count, desc, eq, inArray, sql } from "drizzle-orm";
import { type Databases, schema, type Transaction } from "#db/client";
import type { Actor } from "../context/client.ts";
import type { TenantContext } from "../context/context.ts";
import { commitWithJobs } from "../jobs/commit-with-jobs.ts";
import type { Enqueuing } from "../jobs/jobs.ts";
import type { Sealing } from "../keys/vault.ts";
import type { OnPlatform } from "../lib/platform.ts";
import { MAX_IMPORT_BYTES } from "../moving/import-bounds.ts";
import type { ImportJob } from "../moving/import-job.ts";
import type { Refusal } from "../moving/import-report.ts";
import {
  deletePieces,
  openStates,
  pageOfRefusals,
  readImport,
  refusalsInBatches,
  type StoredImport,
  storePiece,
} from "../moving/uploaded-import.ts";
import { type AdminVerdict, notFound, rejectAdmin } from "./rejections.ts";

const { uploadedImports: imports } = schema;

/** Files of a tenant that are not imported yet. */
const MAX_OPEN_IMPORTS = 10;

/** An operator's request about uploaded files. */
interface ImportContext<More = unknown> extends TenantContext<Databases & OnPlatform & More> {
  client: Actor;
  now: Date;
}

/** An uploaded file as operators are shown it. */
export interface ShownImport {
  id: string;
  state: StoredImport["state"];
  checks: boolean;
  form: string | null;
  pieces: number;
  bytes: number;
  /** Records that were read; null before the first and after the last. */
  records: number | null;
  /** Records of the whole file; null before it was checked. */
  expected: number | null;
  imported: number;
  refused: number;
  omitted: Record<string, number>;
  failure: string | null;
  createdAt: Date;
  updatedAt: Date;
}

type Shown = AdminVerdict<{ shown: ShownImport }>;

/** Begins a file. */
export function beginImport(
  { runtime, tenant }: ImportContext,
  options: { form: string | null; providers: Record<string, string>; emitsEvents: boolean },
): Promise<Shown> {
  const tenantId = tenant.id;
  return runtime.database.write.transaction(async (tx) => {
    // Concurrent requests count each other.
    await tx.execute(sql`select 1 from tenants where id = ${tenantId} for no key update`);
    const [open] = await tx
      .select({ total: count() })
      .from(imports)
      .where(and(eq(imports.tenantId, tenantId), inArray(imports.state, [...openStates])));
    if ((open?.total ?? 0) >= MAX_OPEN_IMPORTS)
      return rejectAdmin("conflict", `At most ${MAX_OPEN_IMPORTS} files wait to be imported. Cancel one.`);
    const [begun] = await tx
      .insert(imports)
      .values({ tenantId, id: runtime.platform.uuid(), state: "uploading", ...options })
      .returning();
    return begun ? { ok: true, shown: shownOf(begun, null) } : notFound;
  });
}

/** Locks a file, so that concurrent requests about it run one after the other. */
async function lockImport(tx: Transaction, tenantId: string, id: string): Promise<StoredImport | null> {
  const [found] = await tx
    .select()
    .from(imports)
    .where(and(eq(imports.tenantId, tenantId), eq(imports.id, id)))
    .for("no key update");
  return found ?? null;
}

/** Takes the next piece of a file. One that was taken already is taken again without effect: its answer may have been lost. */
export function addPiece(
  { runtime, tenant }: ImportContext<Sealing>,
  importId: string,
  { number, data }: { number: number; data: string },
): Promise<Shown> {
  const bytes = Buffer.from(data);
  return runtime.database.write.transaction(async (tx) => {
    const found = await lockImport(tx, tenant.id, importId);
    if (!found) return notFound;
    if (number > found.pieces + 1)
      return rejectAdmin("conflict", `The next piece is number ${found.pieces + 1}.`);
    if (found.state !== "uploading") return rejectAdmin("conflict", `The file is ${found.state}.`);
    if (number > found.pieces && found.bytes + bytes.length > MAX_IMPORT_BYTES)
      return rejectAdmin("invalid", `A file has at most ${MAX_IMPORT_BYTES} bytes.`);
    const at = { tenantId: tenant.id, importId, number };
    const outcome = await storePiece(tx, runtime, at, bytes);
    if (outcome === "other") return rejectAdmin("conflict", "This piece was sent with another content.");
    if (outcome === "again") return { ok: true, shown: shownOf(found, null) };
    const [next] = await tx
      .update(imports)
      .set({ pieces: number, bytes: found.bytes + bytes.length, updatedAt: sql`statement_timestamp()` })
      .where(and(eq(imports.tenantId, tenant.id), eq(imports.id, importId)))
      .returning();
    return next ? { ok: true, shown: shownOf(next, null) } : notFound;
  });
}

/**
 * Starts the job of a file whose pieces are all there: it checks the file, or imports it. A file that was checked can be
 * imported without sending it again. A second call for what has been started changes nothing.
 */
export async function startImport(
  context: ImportContext<Enqueuing<ImportJob>>,
  importId: string,
  { checks, pieces }: { checks: boolean; pieces: number },
): Promise<Shown> {
  const { runtime, tenant } = context;
  const job: ImportJob = { name: "import_users", tenantId: tenant.id, importId };
  const jobs: ImportJob[] = [];
  return commitWithJobs(runtime, jobs, context, async (tx): Promise<Shown> => {
    const found = await lockImport(tx, tenant.id, importId);
    if (!found) return notFound;
    if (found.pieces !== pieces) return rejectAdmin("conflict", `The file has ${found.pieces} pieces.`);
    if (found.state !== "uploading" && found.state !== "checked")
      return found.checks === checks
        ? { ok: true, shown: shownOf(found, null) }
        : rejectAdmin("conflict", `The file is ${found.state}.`);
    if (found.state === "checked" && checks) return { ok: true, shown: shownOf(found, null) };
    if (pieces === 0) return rejectAdmin("conflict", "The file has no pieces.");
    const [started] = await tx
      .update(imports)
      .set({
        state: "waiting",
        checks,
        // Those of the check stay until the import has ended: their sum is the number of its records.
        ...(found.state === "checked" ? {} : { imported: null, refused: null }),
        omitted: null,
        updatedAt: sql`statement_timestamp()`,
      })
      .where(and(eq(imports.tenantId, tenant.id), eq(imports.id, importId)))
      .returning();
    jobs.push(job);
    return started ? { ok: true, shown: shownOf(started, null) } : notFound;
  });
}

/** Cancels a file that is not imported yet. What was imported stays. */
export function cancelImport({ runtime, tenant }: ImportContext, importId: string): Promise<Shown> {
  const key = { tenantId: tenant.id, importId };
  return runtime.database.write.transaction(async (tx) => {
    const found = await lockImport(tx, tenant.id, importId);
    if (!found) return notFound;
    if (!openStates.some((state) => state === found.state))
      return found.state === "cancelled"
        ? { ok: true, shown: shownOf(found, null) }
        : rejectAdmin("conflict", `The file is ${found.state}.`);
    const progress = (await readImport(tx, key))?.progress;
    // What a check has counted was not imported.
    const counts = { imported: progress?.imported ?? 0, refused: progress?.refused ?? 0 };
    const [cancelled] = await tx
      .update(imports)
      .set({ state: "cancelled", ...counts, updatedAt: sql`statement_timestamp()` })
      .where(and(eq(imports.tenantId, tenant.id), eq(imports.id, importId)))
      .returning();
    await deletePieces(tx, key);
    return cancelled ? { ok: true, shown: shownOf(cancelled, null) } : notFound;
  });
}

/** Shows a file, with how far its import is. */
export async function showImport(
  { runtime, tenant }: TenantContext<Databases>,
  importId: string,
): Promise<Shown> {
  const found = await readImport(runtime.database.read, { tenantId: tenant.id, importId });
  return found ? { ok: true, shown: shownOf(found.stored, found.progress) } : notFound;
}

/** Lists the files of a tenant, the newest first. */
export async function listImports(
  { runtime, tenant }: TenantContext<Databases>,
  page: { number: number; size: number },
): Promise<{ shown: ShownImport[]; total: number }> {
  const { read } = runtime.database;
  const own = eq(imports.tenantId, tenant.id);
  const [counted] = await read.select({ total: count() }).from(imports).where(own);
  const rows = await read
    .select()
    .from(imports)
    .where(own)
    .orderBy(desc(imports.createdAt), desc(imports.id))
    .limit(page.size)
    .offset((page.number - 1) * page.size);
  return { shown: rows.map((row) => shownOf(row, null)), total: counted?.total ?? 0 };
}

/** Lists the refused records of a file in their order; not found if there is no such file. */
export async function listRefusals(
  { runtime, tenant }: TenantContext<Databases>,
  importId: string,
  page: { number: number; size: number },
): Promise<AdminVerdict<{ refusals: Refusal[]; total: number }>> {
  const { read } = runtime.database;
  const key = { tenantId: tenant.id, importId };
  const [found, listed] = await Promise.all([
    readImport(read, key),
    pageOfRefusals(runtime.database, key, page),
  ]);
  return found ? { ok: true, ...listed } : notFound;
}

/** Reads the refused records of a file in their order, as lines of JSON. */
export async function* refusedLines(
  { runtime, tenant }: TenantContext<Databases>,
  importId: string,
): AsyncGenerator<string, void> {
  for await (const refusals of refusalsInBatches(runtime.database, { tenantId: tenant.id, importId }))
    yield refusals.map((refusal) => `${JSON.stringify(refusal)}\n`).join("");
}

function shownOf(
  stored: StoredImport,
  progress: { records: number; imported: number; refused: number } | null,
): ShownImport {
  const { id, state, checks, form, pieces, bytes, omitted, failure, createdAt, updatedAt } = stored;
  const isImporting = !checks && (state === "waiting" || state === "running");
  const counted = (before: number | null) => (isImporting ? 0 : (before ?? 0));
  const isCounted = stored.imported !== null && (isImporting || state === "checked" || state === "imported");
  return {
    id,
    state,
    checks,
    form,
    pieces,
    bytes,
    records: progress?.records ?? null,
    expected: isCounted ? (stored.imported ?? 0) + (stored.refused ?? 0) : null,
    imported: progress?.imported ?? counted(stored.imported),
    refused: progress?.refused ?? counted(stored.refused),
    omitted: omitted ?? {},
    failure,
    createdAt,
    updatedAt,
  };
}

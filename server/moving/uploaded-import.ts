import { createHash } from "node:crypto";
import { and, asc, eq, gt, sql } from "drizzle-orm";
import { type Databases, schema, type Transaction } from "#db/client";
import { sealContext } from "#db/schema/table";
import { endWork, type Work } from "../jobs/work-in-hand.ts";
import type { Sealing } from "../keys/vault.ts";
import type { ImportProgress } from "./import-progress.ts";
import type { Refusal } from "./import-report.ts";

/** Uploaded files of users, as stored. */

const { uploadedImports: imports, uploadedPieces, uploadedRefusals, userImports } = schema;

export type StoredImport = typeof imports.$inferSelect;

export interface ImportKey {
  tenantId: string;
  importId: string;
}

const ofImport = ({ tenantId, importId }: ImportKey) =>
  and(eq(imports.tenantId, tenantId), eq(imports.id, importId));

/** The key of the progress of an import, which no file that the CLI imports has. */
export const inputHashOf = (importId: string): Buffer =>
  createHash("sha256").update(`uploaded import ${importId}`).digest();

/** States in which a file waits for nothing but its operator, or has ended. */
export const openStates = ["uploading", "waiting", "running", "checked"] as const;

export const importWork = (key: ImportKey): Work<typeof imports> => ({
  table: imports,
  row: ofImport(key),
  name: "the file",
});

/** Ends the work on a file, unless it was cancelled. A file that was only checked is kept, to be imported. */
export async function finishImport(
  tx: Transaction,
  key: ImportKey,
  state: "checked" | "imported",
  { imported, refused, omitted }: Pick<ImportProgress, "imported" | "refused" | "omitted">,
): Promise<void> {
  await tx
    .update(imports)
    .set({
      state: sql`case when ${imports.state} = 'cancelled' then ${imports.state} else ${state} end`,
      imported,
      refused,
      omitted,
      claimedUntil: null,
      updatedAt: sql`statement_timestamp()`,
    })
    .where(ofImport(key));
  if (state === "imported") await deletePieces(tx, key);
}

/** Ends the work on a file that cannot be imported. What was imported of it stays. */
export async function failImport(tx: Transaction, key: ImportKey, failure: string): Promise<void> {
  const counted = (column: "imported" | "refused") => sql`coalesce((
    select p.${sql.identifier(column)} from user_imports p
    where p.tenant_id = ${key.tenantId} and p.input_hash = ${inputHashOf(key.importId)}), 0)`;
  const failed = await endWork(tx, importWork(key), openStates, {
    state: "failed",
    failure,
    imported: counted("imported"),
    refused: counted("refused"),
  });
  if (failed) await deletePieces(tx, key);
}

export async function deletePieces(tx: Transaction, { tenantId, importId }: ImportKey): Promise<void> {
  await tx
    .delete(uploadedPieces)
    .where(and(eq(uploadedPieces.tenantId, tenantId), eq(uploadedPieces.importId, importId)));
}

/** Reads a piece of a file that is being worked on; null if the file was cancelled, or has expired. */
export async function readPiece(
  { database, vault }: Databases & Sealing,
  { tenantId, importId, number }: ImportKey & { number: number },
): Promise<Buffer | null> {
  const [found] = await database.read
    .select({ sealedData: uploadedPieces.sealedData })
    .from(uploadedPieces)
    .innerJoin(
      imports,
      and(eq(imports.tenantId, uploadedPieces.tenantId), eq(imports.id, uploadedPieces.importId)),
    )
    .where(
      and(
        eq(uploadedPieces.tenantId, tenantId),
        eq(uploadedPieces.importId, importId),
        eq(uploadedPieces.number, number),
        eq(imports.state, "running"),
      ),
    );
  return found ? vault.unseal(found.sealedData, contextOf({ tenantId, importId, number })) : null;
}

const contextOf = ({ tenantId, importId, number }: ImportKey & { number: number }) =>
  sealContext(uploadedPieces, "sealedData", { tenantId, importId, number: String(number) });

/** Stores a piece. The caller has locked the file. @returns whether it is the next one, or one that is stored already */
export async function storePiece(
  tx: Transaction,
  { vault }: Sealing,
  at: ImportKey & { number: number },
  data: Buffer,
): Promise<"stored" | "again" | "other"> {
  const { tenantId, importId, number } = at;
  const hash = createHash("sha256").update(data).digest();
  const [existing] = await tx
    .select({ hash: uploadedPieces.hash })
    .from(uploadedPieces)
    .where(
      and(
        eq(uploadedPieces.tenantId, tenantId),
        eq(uploadedPieces.importId, importId),
        eq(uploadedPieces.number, number),
      ),
    );
  if (existing) return existing.hash.equals(hash) ? "again" : "other";
  const sealedData = vault.seal(data, contextOf(at));
  await tx.insert(uploadedPieces).values({ tenantId, importId, number, sealedData, hash });
  return "stored";
}

const MAX_REASON = 500;

/** Stores refused records. One that is stored already is replaced: its batch was not committed. */
export async function storeRefusals(
  tx: Transaction,
  { tenantId, id: importId }: Pick<StoredImport, "tenantId" | "id">,
  refusals: readonly Refusal[],
): Promise<void> {
  if (refusals.length === 0) return;
  await tx
    .insert(uploadedRefusals)
    .values(
      refusals.map(({ record, line, id, reason }) => ({
        tenantId,
        importId,
        record,
        line,
        sourceId: id ?? null,
        reason: reason.slice(0, MAX_REASON),
      })),
    )
    .onConflictDoUpdate({
      target: [uploadedRefusals.tenantId, uploadedRefusals.importId, uploadedRefusals.record],
      set: { line: sql`excluded.line`, sourceId: sql`excluded.source_id`, reason: sql`excluded.reason` },
    });
}

const refusalsOf = ({ tenantId, importId }: ImportKey) =>
  and(eq(uploadedRefusals.tenantId, tenantId), eq(uploadedRefusals.importId, importId));

/**
 * Refused records of a file in their order.
 *
 * @param from `after`: the record before the first one; `offset`: how many after it are left out
 */
async function refusalsFrom(
  { read }: Pick<Databases["database"], "read">,
  key: ImportKey,
  { after = 0, offset = 0, limit }: { after?: number; offset?: number; limit: number },
): Promise<Refusal[]> {
  const rows = await read
    .select({
      record: uploadedRefusals.record,
      line: uploadedRefusals.line,
      id: uploadedRefusals.sourceId,
      reason: uploadedRefusals.reason,
    })
    .from(uploadedRefusals)
    .where(and(refusalsOf(key), gt(uploadedRefusals.record, after)))
    .orderBy(asc(uploadedRefusals.record))
    .limit(limit)
    .offset(offset);
  return rows.map(({ id, ...row }) => (id === null ? row : { ...row, id }));
}

/** A page of the refused records of a file, in their order. */
export async function pageOfRefusals(
  database: Pick<Databases["database"], "read">,
  key: ImportKey,
  { number, size }: { number: number; size: number },
): Promise<{ refusals: Refusal[]; total: number }> {
  const refusals = await refusalsFrom(database, key, { offset: (number - 1) * size, limit: size });
  return { refusals, total: await database.read.$count(uploadedRefusals, refusalsOf(key)) };
}

/** Refused records of one query. */
const REFUSALS_BATCH = 1_000;

/** All refused records of a file in their order, in batches. */
export async function* refusalsInBatches(
  database: Pick<Databases["database"], "read">,
  key: ImportKey,
): AsyncGenerator<Refusal[], void> {
  for (let after = 0; ; ) {
    const refusals = await refusalsFrom(database, key, { after, limit: REFUSALS_BATCH });
    if (refusals.length > 0) yield refusals;
    if (refusals.length < REFUSALS_BATCH) return;
    after = refusals.at(-1)?.record ?? after;
  }
}

/** Deletes the refusals after a record. */
export async function deleteRefusals(
  tx: Transaction,
  { tenantId, id }: Pick<StoredImport, "tenantId" | "id">,
  after: number,
): Promise<void> {
  await tx
    .delete(uploadedRefusals)
    .where(and(refusalsOf({ tenantId, importId: id }), gt(uploadedRefusals.record, after)));
}

/** Reads a file, with how far its import is. */
export async function readImport(
  db: Pick<Databases["database"]["read"], "select">,
  { tenantId, importId }: ImportKey,
): Promise<{
  stored: StoredImport;
  progress: Pick<ImportProgress, "records" | "imported" | "refused"> | null;
} | null> {
  const [found] = await db
    .select({
      stored: imports,
      progress: {
        records: userImports.records,
        imported: userImports.imported,
        refused: userImports.refused,
      },
    })
    .from(imports)
    .leftJoin(
      userImports,
      and(eq(userImports.tenantId, imports.tenantId), eq(userImports.inputHash, inputHashOf(importId))),
    )
    .where(ofImport({ tenantId, importId }));
  return found ?? null;
}

import { and, eq } from "drizzle-orm";
import { type Database, schema, type Transaction } from "#db/client";

const { userImports: table } = schema;

/** How far an import is. */
export type ImportProgress = Pick<
  typeof table.$inferSelect,
  "records" | "imported" | "refused" | "recordsHash" | "omitted" | "reportBytes"
>;

interface ImportKey {
  tenantId: string;
  inputHash: Buffer;
}

const NOTHING: ImportProgress = {
  records: 0,
  imported: 0,
  refused: 0,
  recordsHash: Buffer.alloc(0),
  omitted: {},
  reportBytes: 0,
};

const ofImport = ({ tenantId, inputHash }: ImportKey) =>
  and(eq(table.tenantId, tenantId), eq(table.inputHash, inputHash));

/**
 * Starts an import, or continues an interrupted one. Waits for a transaction of the interrupted process that is still
 * being committed.
 */
export function startProgress(
  { write }: Pick<Database, "write">,
  key: ImportKey,
  resume: boolean,
): Promise<ImportProgress> {
  return write.transaction(async (tx) => {
    if (!resume) await tx.delete(table).where(ofImport(key));
    await tx
      .insert(table)
      .values({ ...key, ...NOTHING })
      .onConflictDoNothing();
    const [progress] = await tx.select().from(table).where(ofImport(key)).for("update");
    return progress ?? NOTHING;
  });
}

/** Records a batch in its transaction. Returns false if another process has recorded one meanwhile. */
export async function saveProgress(
  tx: Transaction,
  key: ImportKey,
  before: ImportProgress,
  next: ImportProgress,
): Promise<boolean> {
  const saved = await tx
    .update(table)
    .set({ ...next, updatedAt: new Date() })
    .where(and(ofImport(key), eq(table.records, before.records)))
    .returning({ records: table.records });
  return saved.length > 0;
}

/** Forgets an import that has ended. */
export async function finishProgress(tx: Transaction, key: ImportKey): Promise<void> {
  await tx.delete(table).where(ofImport(key));
}

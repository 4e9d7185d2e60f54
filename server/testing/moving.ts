import { Readable } from "node:stream";
import type { Tenant } from "../config/tenant.ts";
import { exportUsers } from "../moving/export-users.ts";
import { reportTo } from "../moving/import-report.ts";
import { type ImportOptions, type ImportResult, importUsers } from "../moving/import-users.ts";
import type { UserRecord } from "../moving/user-record.ts";
import type { Runtime } from "../runtime.ts";

/** Imports and exports of tests. */

type Result = Omit<ImportResult, "form"> & { refusals: { line: number; reason: string }[] };

/** Imports a text, in the form that it is recognized to have. */
export async function importText(
  runtime: Runtime,
  tenant: Tenant,
  text: string | Buffer,
  options: Partial<ImportOptions> = {},
): Promise<Result> {
  const refusals: Result["refusals"] = [];
  const { form: _, ...result } = await importUsers(
    runtime,
    tenant,
    // Chunks of a prime length, so that records begin and end anywhere in them.
    Readable.from(chunksOf(Buffer.from(text), 65_537)),
    { form: null, providers: {}, dryRun: false, resume: false, emitEvents: false, ...options },
    reportTo(({ line, reason }) => refusals.push({ line, reason })),
  );
  return { ...result, refusals };
}

function* chunksOf(bytes: Buffer, size: number) {
  for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size);
}

/** Imports records, as lines of JSON. */
export function importRecords(
  runtime: Runtime,
  tenant: Tenant,
  records: readonly unknown[],
  options: Partial<ImportOptions> = {},
): Promise<Result> {
  const lines = records.map((record) => (typeof record === "string" ? record : JSON.stringify(record)));
  return importText(runtime, tenant, lines.join("\n"), options);
}

/** An exported user. */
export type ExportedUser = Required<UserRecord> & { id: string; created_at: string };

/** Exports all users of a tenant. */
export async function exportAll(
  runtime: Runtime,
  tenant: Tenant,
  withSecrets = true,
): Promise<ExportedUser[]> {
  const users: ExportedUser[] = [];
  await exportUsers(runtime, tenant, { withSecrets }, async (lines) => {
    users.push(...lines.map((line) => JSON.parse(line) as ExportedUser));
  });
  return users;
}

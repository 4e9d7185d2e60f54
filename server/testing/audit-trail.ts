import { asc, eq } from "drizzle-orm";
import { schema } from "#db/client";
import type { TestRuntime } from "./runtime.ts";

/** The entries of the audit log that concern a user, oldest first: type and details. */
export async function auditTrail({ database }: TestRuntime, userId: string): Promise<[string, unknown][]> {
  const { auditLogs } = schema;
  const rows = await database.read
    .select()
    .from(auditLogs)
    .where(eq(auditLogs.userId, userId))
    .orderBy(asc(auditLogs.createdAt));
  return rows.map(({ type, details }) => [type, details]);
}

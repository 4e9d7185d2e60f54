import type { Databases } from "#db/client";
import { type AuditContext, audit } from "../audit/audit.ts";

/**
 * Records what an account of the console has changed, beside what the operation records itself.
 *
 * @param context its client names the account
 * @param change `operation`: its id in the document of the interface; `of`: the ids of what was changed; `changes`: as
 *   `changesBetween` tells them
 */
export async function recordChange(
  context: Omit<AuditContext, "runtime"> & { runtime: AuditContext["runtime"] & Databases },
  { operation, of, changes }: { operation: string; of: string[]; changes: string[] },
): Promise<void> {
  const details = { operation, of, changes };
  await context.runtime.database.write.transaction(audit(context, "console_changed", details));
}

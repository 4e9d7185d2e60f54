import { sql } from "drizzle-orm";
import { type Databases, schema } from "#db/client";
import { databaseNow } from "#db/clock";
import type { TenantContext } from "../context/context.ts";
import type { OnPlatform } from "../lib/platform.ts";
import { sha256 } from "../lib/sha256.ts";

const { seenAssertions } = schema;

/**
 * Registers the use of a sealed token that is valid once, and commits. All servers share the register.
 *
 * @param token `id`: random; `seconds`: how long the token can still be opened
 * @returns false if it was used before
 */
export async function registerUse(
  { runtime, tenant }: TenantContext<OnPlatform & Databases>,
  { id, seconds }: { id: string; seconds: number },
): Promise<boolean> {
  const now = databaseNow(runtime.platform.clockShift());
  const made = await runtime.database.write
    .insert(seenAssertions)
    .values({
      tenantId: tenant.id,
      idHash: sha256(`token ${id}`),
      expiresAt: sql`${now} + ${seconds}::int * interval '1 second'`,
    })
    .onConflictDoNothing()
    .returning({ idHash: seenAssertions.idHash });
  return made.length > 0;
}

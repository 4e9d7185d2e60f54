import { sql } from "drizzle-orm";
import { type Databases, schema } from "#db/client";
import { databaseNow } from "#db/clock";
import type { Part } from "#db/part";
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

/**
 * The same as the part of a statement, which returns whether it is the first use.
 *
 * @param expiresAt when the token can no longer be opened
 * @param condition SQL of whether it is used
 */
export function usedPart(
  tenantId: string,
  { id, expiresAt }: { id: string; expiresAt: Date },
  condition: string,
): Part {
  return {
    name: "used",
    text: `used as (
      insert into seen_assertions (tenant_id, id_hash, expires_at)
      select $1::uuid, $2::bytea, $3::timestamptz where ${condition}
      on conflict do nothing returning 1)`,
    values: [tenantId, sha256(`token ${id}`), expiresAt],
    returns: "exists (select 1 from used)",
  };
}

import { and, asc, eq, isNull, lt, or } from "drizzle-orm";
import { schema } from "#db/client";
import { databaseNow } from "#db/clock";
import { constantTimeEqual } from "../lib/constant-time-equal.ts";
import { randomToken } from "../lib/random-token.ts";
import { sha256 } from "../lib/sha256.ts";
import type { Runtime } from "../runtime.ts";
import type { Tenant } from "./tenant.ts";

const { apiKeys } = schema;

/** Interfaces that other servers call by a key. */
export const keyInterfaces = ["passkeys", "authenticator", "admin"] as const;

export type KeyInterface = (typeof keyInterfaces)[number];

/** A key without the key: what may be shown of it. */
export interface ApiKey {
  id: string;
  tenantId: string;
  interface: KeyInterface;
  name: string;
  createdAt: Date;
  /** Good to a minute; null for one that was never used. */
  lastUsedAt: Date | null;
}

const shown = {
  id: apiKeys.id,
  tenantId: apiKeys.tenantId,
  interface: apiKeys.interface,
  name: apiKeys.name,
  createdAt: apiKeys.createdAt,
  lastUsedAt: apiKeys.lastUsedAt,
};

/** `stile_` and 256 bits in base64url: a prefix by which scanners find a key that was published by mistake. */
const pattern = /^stile_[A-Za-z0-9_-]{43}$/;

/**
 * Makes a key. Several may be live at once, so that one can take another's place without a gap.
 *
 * @returns the key itself, which cannot be shown again: only its SHA-256 is kept
 */
export async function createApiKey(
  { database, platform }: Pick<Runtime, "database" | "platform">,
  tenant: Pick<Tenant, "id">,
  { interface: opens, name }: { interface: KeyInterface; name: string },
): Promise<{ id: string; key: string }> {
  const id = platform.uuid();
  const key = `stile_${randomToken(platform)}`;
  await database.write
    .insert(apiKeys)
    .values({ tenantId: tenant.id, id, interface: opens, name, keyHash: sha256(key) });
  return { id, key };
}

/** The keys of a tenant, or of all, the oldest first. */
export async function listApiKeys(
  { database }: Pick<Runtime, "database">,
  tenant?: Pick<Tenant, "id">,
): Promise<ApiKey[]> {
  const rows = await database.read
    .select(shown)
    .from(apiKeys)
    .where(tenant ? eq(apiKeys.tenantId, tenant.id) : undefined)
    .orderBy(asc(apiKeys.createdAt), asc(apiKeys.id));
  return rows as ApiKey[];
}

/**
 * Deletes a key, which is worth nothing from the commit on.
 *
 * @returns false when there is none of this id
 */
export async function deleteApiKey({ database }: Pick<Runtime, "database">, id: string): Promise<boolean> {
  const gone = await database.write.delete(apiKeys).where(eq(apiKeys.id, id)).returning({ id: apiKeys.id });
  return gone.length > 0;
}

/**
 * Whose key this is.
 *
 * @param tenant the one that the request is for; without it the key says which
 * @param key what the request brought along, of any shape and length
 * @returns null whatever is wrong with it: unknown, another interface's, another tenant's
 */
export async function verifyApiKey(
  { database, platform }: Pick<Runtime, "database" | "platform">,
  { interface: opens, tenant }: { interface: KeyInterface; tenant?: Pick<Tenant, "id"> },
  key: string,
): Promise<ApiKey | null> {
  if (!pattern.test(key)) return null;
  const keyHash = sha256(key);
  // By the hash of what somebody sent: how long the look-up takes tells nothing of any key.
  const [row] = await database.read
    .select({ ...shown, keyHash: apiKeys.keyHash, now: databaseNow(platform.clockShift()) })
    .from(apiKeys)
    .where(eq(apiKeys.keyHash, keyHash));
  if (!row) return null;
  const { keyHash: kept, now, ...found } = row;
  if (!constantTimeEqual(kept, keyHash) || found.interface !== opens) return null;
  if (tenant && tenant.id !== found.tenantId) return null;
  const aMinuteAgo = new Date(now.getTime() - 60_000);
  if (found.lastUsedAt === null || found.lastUsedAt < aMinuteAgo) {
    await database.claim
      .update(apiKeys)
      .set({ lastUsedAt: now })
      .where(
        and(eq(apiKeys.keyHash, keyHash), or(isNull(apiKeys.lastUsedAt), lt(apiKeys.lastUsedAt, aMinuteAgo))),
      );
  }
  return found as ApiKey;
}

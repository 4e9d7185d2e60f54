import { and, asc, eq, getTableColumns, isNull, lt, or, sql } from "drizzle-orm";
import { type Databases, type ReadOnly, schema } from "#db/client";
import { databaseNow } from "#db/clock";
import { positionText } from "#db/log-position";
import { prepared } from "#db/prepared";
import { type AuditedTenant, audit, auditAttempt, commandLine } from "../audit/audit.ts";
import type { AuditOutputs } from "../audit/audit-output.ts";
import type { FailureReason } from "../audit/failure-reasons.ts";
import type { Tenant } from "../config/tenant.ts";
import type { Actor } from "../context/client.ts";
import type { ClientContext } from "../context/context.ts";
import { currentTime } from "../database/current-time.ts";
import { constantTimeEqual } from "../lib/constant-time-equal.ts";
import type { OnPlatform } from "../lib/platform.ts";
import { randomToken } from "../lib/random-token.ts";
import { sha256 } from "../lib/sha256.ts";
import { TenantError } from "./manage-tenants.ts";

/** What this module takes of the process. */
type Process = OnPlatform & Databases & AuditOutputs;

const { apiKeys, tenants } = schema;

/** Keys that a tenant may have for one interface. */
export const MAX_API_KEYS = 100;

/** The time of the last use is written at most this often. */
const LAST_USE_PRECISION_MS = 60_000;

/** Interfaces that other servers call with an API key. */
export const keyInterfaces = ["passkeys", "authenticator", "admin"] as const;

export type KeyInterface = (typeof keyInterfaces)[number];

const { keyHash, ...columns } = getTableColumns(apiKeys);

/** An API key without its secret. `lastUsedAt`: to the minute; null if it was never used. */
export type ApiKey = Omit<typeof apiKeys.$inferSelect, "keyHash" | "interface"> & { interface: KeyInterface };

/** Why a key is not valid: for the audit log alone, because the answer does not tell. */
type KeyRejection = FailureReason<"api_key_rejected"> | "malformed";

export type KeyVerdict =
  /** `position`: of the primary when the key was read, for reads at replicas; null if it was not asked for. */
  { ok: true; key: ApiKey; position: string | null } | { ok: false; reason: KeyRejection };

/** `stile_` and 256 bits in base64url. Secret scanners find a leaked key by the prefix. */
const keyPattern = /^stile_[A-Za-z0-9_-]{43}$/;

/**
 * Records a well-formed key that is not valid: one that was deleted, or of another tenant or interface. Anything else
 * is no key. What one source can cause is limited.
 */
export async function recordRejectedKey(
  { runtime, tenant, client }: Omit<ClientContext<Process>, "now">,
  keyInterface: KeyInterface,
  reason: KeyRejection,
): Promise<void> {
  if (reason === "malformed") return;
  const context = { runtime, tenant, client, now: await currentTime(runtime) };
  const details = { interface: keyInterface, reason };
  await runtime.database.write.transaction(auditAttempt(context, "api_key_rejected", details));
}

/**
 * Creates an API key. A tenant can have several at once, for rotation without downtime.
 *
 * @param by default: the command line
 * @returns the key, which cannot be shown again: only its SHA-256 is stored
 * @throws TenantError with `conflict` if the tenant has `MAX_API_KEYS` for the interface
 */
export async function createApiKey(
  runtime: Process,
  tenant: AuditedTenant,
  { interface: keyInterface, name }: { interface: KeyInterface; name: string },
  by: Actor = commandLine,
): Promise<{ id: string; key: string }> {
  const { database, platform } = runtime;
  const id = platform.uuid();
  const key = `stile_${randomToken(platform)}`;
  const details = { key: id, interface: keyInterface, name };
  const now = await currentTime(runtime);
  await database.write.transaction(async (tx) => {
    // Requests at once are counted one after the other.
    await tx.select().from(tenants).where(eq(tenants.id, tenant.id)).for("no key update");
    const own = and(eq(apiKeys.tenantId, tenant.id), eq(apiKeys.interface, keyInterface));
    if ((await tx.$count(apiKeys, own)) >= MAX_API_KEYS)
      throw new TenantError(`a tenant has at most ${MAX_API_KEYS} keys of an interface`, "conflict");
    await tx
      .insert(apiKeys)
      .values({ tenantId: tenant.id, id, interface: keyInterface, name, keyHash: sha256(key) });
    await audit({ runtime, tenant, client: by, now }, "api_key_created", details)(tx);
  });
  return { id, key };
}

/** Lists the keys of a tenant, or of all tenants, oldest first. */
export async function listApiKeys({ database }: Databases, tenant?: Pick<Tenant, "id">): Promise<ApiKey[]> {
  const rows = await database.read
    .select(columns)
    .from(apiKeys)
    .where(tenant ? eq(apiKeys.tenantId, tenant.id) : undefined)
    .orderBy(asc(apiKeys.createdAt), asc(apiKeys.id));
  return rows as ApiKey[];
}

/**
 * Deletes a key of a tenant, which is invalid from then on.
 *
 * @param by default: the command line
 * @returns false if the tenant has no such key
 */
export async function deleteApiKey(
  runtime: Process,
  tenant: AuditedTenant,
  id: string,
  by: Actor = commandLine,
): Promise<boolean> {
  const now = await currentTime(runtime);
  return runtime.database.write.transaction(async (tx) => {
    const [deleted] = await tx
      .delete(apiKeys)
      .where(and(eq(apiKeys.tenantId, tenant.id), eq(apiKeys.id, id)))
      .returning({ interface: apiKeys.interface, name: apiKeys.name });
    if (deleted)
      await audit({ runtime, tenant, client: by, now }, "api_key_deleted", { key: id, ...deleted })(tx);
    return deleted !== undefined;
  });
}

const selectByHash = (position: string) => (db: ReadOnly) =>
  db
    .select({
      ...columns,
      keyHash,
      now: databaseNow(sql.placeholder("shift")),
      position: sql<string | null>`${sql.raw(position)}`,
    })
    .from(apiKeys)
    .where(eq(keyHash, sql.placeholder("keyHash")));

const byHash = prepared("api_key_by_hash", selectByHash("null"));

const byHashWithPosition = prepared("api_key_with_position", selectByHash(positionText));

/**
 * Verifies an API key, and records its use once a minute.
 *
 * @param tenant of the request; without it, a key of any tenant is accepted
 * @param withPosition whether the position of the primary is read with it
 * @param key untrusted, of any length
 * @returns the key, or why it is not valid
 */
export async function verifyApiKey(
  { database, platform }: Databases & OnPlatform,
  {
    interface: keyInterface,
    tenant,
    withPosition = false,
  }: { interface: KeyInterface; tenant?: Pick<Tenant, "id">; withPosition?: boolean },
  key: string,
): Promise<KeyVerdict> {
  if (!keyPattern.test(key)) return { ok: false, reason: "malformed" };
  const hash = sha256(key);
  // Looked up by hash, so timing reveals nothing about stored keys.
  const select = withPosition ? byHashWithPosition : byHash;
  const [row] = await select(database.read).execute({ keyHash: hash, shift: platform.clockShift() });
  if (!row) return { ok: false, reason: "unknown_key" };
  const { keyHash: storedHash, now, position, ...found } = row;
  if (!constantTimeEqual(storedHash, hash)) return { ok: false, reason: "unknown_key" };
  if (tenant && tenant.id !== found.tenantId) return { ok: false, reason: "other_tenant" };
  if (found.interface !== keyInterface) return { ok: false, reason: "other_interface" };
  const outdated = new Date(now.getTime() - LAST_USE_PRECISION_MS);
  if (found.lastUsedAt === null || found.lastUsedAt < outdated) {
    await database.claim
      .update(apiKeys)
      .set({ lastUsedAt: now })
      .where(and(eq(keyHash, hash), or(isNull(apiKeys.lastUsedAt), lt(apiKeys.lastUsedAt, outdated))));
  }
  return { ok: true, key: found as ApiKey, position };
}

import { and, desc, eq, gt, isNull, type Placeholder, sql } from "drizzle-orm";
import { type Queryable, type ReadOnly, schema } from "#db/client";
import { ConflictError } from "#db/errors";
import { prepared } from "#db/prepared";
import type { Write } from "#db/write";
import { audit } from "../audit/audit.ts";
import type { AuditOutputs } from "../audit/audit-output.ts";
import type { CookieChanges } from "../context/client.ts";
import type { RequestContext } from "../context/context.ts";
import type { OnPlatform } from "../lib/platform.ts";
import { isRandomToken, randomToken } from "../lib/random-token.ts";
import { sha256 } from "../lib/sha256.ts";
import { isCanonicalUuid } from "../lib/uuid.ts";
import { originOf } from "./use-origin.ts";

/** What this module takes of the process. */
type Process = OnPlatform & AuditOutputs;

/**
 * Trusted devices: browsers that may skip the second factor of a user, never the first. A device stores one token for
 * each user that trusts it, all in one cookie. Every use replaces the token, so that the use of a copy is detected.
 */

const { trustedDevices } = schema;

const ofUser = (tenantId: string | Placeholder, userId: string | Placeholder) =>
  and(eq(trustedDevices.tenantId, tenantId), eq(trustedDevices.userId, userId));

/** A browser may send several cookies of one name, each of at most 4096 bytes (RFC 6265 section 6.1). */
const MAX_COOKIE_LENGTH = 4 * 4096;

/** The token of one user in a device's cookie. */
export interface DeviceEntry {
  userId: string;
  token: string;
}

export type TrustedDeviceVerdict =
  /** `expiresAt`: the end of the trust, which replacing the token does not extend. */
  | { ok: true; id: string; expiresAt: Date }
  /**
   * `unknown`: there is no token of this user, or it was never issued, has expired or was revoked. `replaced`: the
   * token was used before, so this device or another one uses a copy; see `revokeStolenDevice`.
   */
  | { ok: false; reason: "unknown" | "replaced" };

/**
 * Parses the cookie: `<user id>:<token>` joined by `|`, newest first. Malformed entries are ignored.
 *
 * @returns at most one entry for each user
 */
export function parseDeviceCookie(cookie: string | null): DeviceEntry[] {
  if (cookie === null || cookie.length > MAX_COOKIE_LENGTH) return [];
  const entries = new Map<string, DeviceEntry>();
  for (const part of cookie.split("|")) {
    const [userId = "", token = "", ...rest] = part.split(":");
    const isEntry = rest.length === 0 && isCanonicalUuid(userId) && isRandomToken(token);
    if (isEntry && !entries.has(userId)) entries.set(userId, { userId, token });
  }
  return [...entries.values()];
}

/**
 * Finds out whether a device may skip the second factor of a user. The policy `never` also ends trust granted before
 * it.
 *
 * @param about `cookie`: as the browser sent it; `userId`: the user whose first factor was verified
 */
export async function findTrustedDevice(
  db: ReadOnly,
  { tenant, now }: Pick<RequestContext<unknown>, "tenant" | "now">,
  { cookie, userId }: { cookie: string | null; userId: string },
): Promise<TrustedDeviceVerdict> {
  if (tenant.config.mfa.device_trust_policy === "never") return { ok: false, reason: "unknown" };
  const entry = parseDeviceCookie(cookie).find((candidate) => candidate.userId === userId);
  if (!entry) return { ok: false, reason: "unknown" };
  const [device] = await selectDevice(db).execute({
    tenantId: tenant.id,
    userId,
    tokenHash: sha256(entry.token),
    now,
  });
  if (!device) return { ok: false, reason: "unknown" };
  const { id, expiresAt, replacedAt } = device;
  return replacedAt === null ? { ok: true, id, expiresAt } : { ok: false, reason: "replaced" };
}

/**
 * Trusts a device, or replaces the token of a trusted one. A replacement expires with the token it replaces, so trust
 * must be granted again after `mfa.device_trust_duration`.
 *
 * @param about `cookie`: as the browser sent it; entries of other users stay, up to
 *   `mfa.device_trust_max_users_per_device`. `rotates`: the verdict of `findTrustedDevice`, if the device is trusted.
 *   `granted`: the user or the policy has just granted trust, so the full duration begins
 * @returns `cookieChanges`: the new cookie. `write` throws ConflictError("device") if the token was replaced or revoked
 *   concurrently
 */
export function trustDevice(
  context: RequestContext<Process>,
  about: {
    userId: string;
    cookie: string | null;
    rotates?: { id: string; expiresAt: Date };
    granted?: boolean;
  },
): { cookieChanges: Required<Pick<CookieChanges, "device">>; write: Write } {
  const { userId, cookie, rotates } = about;
  const { runtime, tenant, now } = context;
  const granted = about.granted ?? rotates === undefined;
  const { device_trust_duration, device_trust_max_users_per_device } = tenant.config.mfa;
  const token = randomToken(runtime.platform);
  const row = {
    tenantId: tenant.id,
    id: runtime.platform.uuid(),
    userId,
    tokenHash: sha256(token),
    ...originOf(context),
    createdAt: now,
    expiresAt:
      rotates && !granted ? rotates.expiresAt : new Date(now.getTime() + device_trust_duration * 1000),
  };
  const others = parseDeviceCookie(cookie).filter((entry) => entry.userId !== userId);
  const entries = [{ userId, token }, ...others].slice(0, device_trust_max_users_per_device);
  // Each row has its own expiry; the cookie lasts as long as the longest trust may.
  const device = {
    value: entries.map((entry) => `${entry.userId}:${entry.token}`).join("|"),
    seconds: device_trust_duration,
  };
  const write: Write = async (tx) => {
    if (rotates) await markReplaced(tx, tenant.id, { id: rotates.id, userId, now });
    await tx.insert(trustedDevices).values(row);
  };
  return { cookieChanges: { device }, write };
}

/** Revokes all trusted devices of an account, after a change of its password or factors. */
export async function revokeDevices(tx: Queryable, tenantId: string, userId: string): Promise<void> {
  await tx.delete(trustedDevices).where(ofUser(tenantId, userId));
}

/** A browser that is trusted now. */
export type TrustedDevice = Pick<typeof trustedDevices.$inferSelect, "id" | "createdAt" | "expiresAt">;

/** Lists the browsers that a user trusts, newest first. The id of one changes with each use. */
export function listTrustedDevices(
  db: ReadOnly,
  { tenant, now }: Pick<RequestContext<unknown>, "tenant" | "now">,
  userId: string,
): Promise<TrustedDevice[]> {
  const { id, createdAt, expiresAt } = trustedDevices;
  return db
    .select({ id, createdAt, expiresAt })
    .from(trustedDevices)
    .where(and(ofUser(tenant.id, userId), isNull(trustedDevices.replacedAt), gt(expiresAt, now)))
    .orderBy(desc(createdAt), desc(id));
}

/** @returns false if the user has no such trusted device */
export async function revokeDevice(
  tx: Queryable,
  tenantId: string,
  { userId, id }: { userId: string; id: string },
): Promise<boolean> {
  const revoked = await tx
    .delete(trustedDevices)
    .where(and(ofUser(tenantId, userId), eq(trustedDevices.id, id)))
    .returning({ id: trustedDevices.id });
  return revoked.length > 0;
}

/**
 * Handles the second use of a token that was replaced: one of two browsers has a copy, and it is unknown which one.
 * Revokes all trusted devices of the account and writes to the audit log.
 */
export function revokeStolenDevice(context: RequestContext<Process>, userId: string): Write {
  const line = audit(context, "trusted_device_stolen", {}, userId);
  return async (tx) => {
    await revokeDevices(tx, context.tenant.id, userId);
    await line(tx);
  };
}

async function markReplaced(
  tx: Queryable,
  tenantId: string,
  { id, userId, now }: { id: string; userId: string; now: Date },
): Promise<void> {
  const replaced = await tx
    .update(trustedDevices)
    .set({ replacedAt: now })
    .where(and(ofUser(tenantId, userId), eq(trustedDevices.id, id), isNull(trustedDevices.replacedAt)))
    .returning({ id: trustedDevices.id });
  if (replaced.length === 0) throw new ConflictError("device");
}

const selectDevice = prepared("trusted_device", (db: ReadOnly) =>
  db
    .select({
      id: trustedDevices.id,
      expiresAt: trustedDevices.expiresAt,
      replacedAt: trustedDevices.replacedAt,
    })
    .from(trustedDevices)
    .where(
      and(
        ofUser(sql.placeholder("tenantId"), sql.placeholder("userId")),
        eq(trustedDevices.tokenHash, sql.placeholder("tokenHash")),
        gt(trustedDevices.expiresAt, sql.placeholder("now")),
      ),
    ),
);

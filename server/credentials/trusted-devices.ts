import { and, eq, gt, isNull, sql } from "drizzle-orm";
import { type Queryable, type ReadOnly, schema } from "#db/client";
import { ConflictError } from "#db/errors";
import { prepared } from "#db/prepared";
import type { Write } from "#db/write";
import { audit } from "../audit/audit.ts";
import type { CookieChanges } from "../client.ts";
import { isRandomToken, randomToken } from "../lib/random-token.ts";
import { sha256 } from "../lib/sha256.ts";
import { isCanonicalUuid } from "../lib/uuid.ts";
import type { RequestContext } from "../runtime.ts";

/**
 * Browsers that may skip the second factor of a person, and never the first. A browser holds a token for each person
 * it is trusted by, all in one cookie; at every use the token is replaced, so that a copy shows when it is used.
 */

const { trustedDevices } = schema;

/** A browser may send several cookies of the name, each of at most 4096 bytes (RFC 6265 section 6.1). */
const longestCookie = 4 * 4096;

/** One person's token in a browser's cookie. */
export interface DeviceEntry {
  userId: string;
  token: string;
}

export type DeviceTrust =
  /** No token of this person, or one that was never given out, has expired or was revoked. */
  | { status: "unknown" }
  | {
      /** `replaced`: another browser has used a copy of it, or this one holds the copy; see `revokeStolenDevice`. */
      status: "trusted" | "replaced";
      id: string;
      /** When the trust ends, whatever takes this token's place. */
      expiresAt: Date;
    };

/**
 * Reads the cookie: `<user id>:<token>` joined by `|`, newest first. Whatever else stands in it is passed over.
 *
 * @returns at most one entry for each person
 */
export function parseDeviceCookie(cookie: string | null): DeviceEntry[] {
  if (cookie === null || cookie.length > longestCookie) return [];
  const entries = new Map<string, DeviceEntry>();
  for (const part of cookie.split("|")) {
    const [userId = "", token = "", ...rest] = part.split(":");
    const isEntry = rest.length === 0 && isCanonicalUuid(userId) && isRandomToken(token);
    if (isEntry && !entries.has(userId)) entries.set(userId, { userId, token });
  }
  return [...entries.values()];
}

/**
 * Whether a browser may skip a person's second factor. Policy `never` trusts nobody, whatever was trusted before it.
 *
 * @param about `cookie`: as the browser sent it; `userId`: who has shown a first factor
 */
export async function findDeviceTrust(
  db: ReadOnly,
  { tenant, now }: Pick<RequestContext, "tenant" | "now">,
  { cookie, userId }: { cookie: string | null; userId: string },
): Promise<DeviceTrust> {
  if (tenant.config.mfa.device_trust_policy === "never") return { status: "unknown" };
  const entry = parseDeviceCookie(cookie).find((one) => one.userId === userId);
  if (!entry) return { status: "unknown" };
  const [device] = await selectDevice(db).execute({
    tenantId: tenant.id,
    userId,
    tokenHash: sha256(entry.token),
    now,
  });
  if (!device) return { status: "unknown" };
  const { id, expiresAt, replacedAt } = device;
  return { status: replacedAt === null ? "trusted" : "replaced", id, expiresAt };
}

/**
 * Trusts a browser, or gives one that is trusted its next token. The next token lives no longer than the one before:
 * every `mfa.device_trust_duration` the person has to trust it anew.
 *
 * @param about `cookie`: as the browser sent it; other people's entries stay, as many as
 *   `mfa.device_trust_max_users_per_device` leaves room for. `rotates`: the trust that there was, of `trustedDevice`.
 *   `granted`: the person has just said so, or the policy says it for them, and so a whole life begins
 * @returns `kept`: the new cookie. `write` throws TakenError("device") when the token that was used has been replaced
 *   or revoked meanwhile
 */
export function trustDevice(
  context: RequestContext,
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
    createdAt: now,
    expiresAt:
      rotates && !granted ? rotates.expiresAt : new Date(now.getTime() + device_trust_duration * 1000),
  };
  const others = parseDeviceCookie(cookie).filter((entry) => entry.userId !== userId);
  const entries = [{ userId, token }, ...others].slice(0, device_trust_max_users_per_device);
  // The rows say how long each is trusted; the cookie lasts as long as the longest of them may.
  const device = { value: entries.map(entryText).join("|"), seconds: device_trust_duration };
  const write: Write = async (tx) => {
    if (rotates) await markReplaced(tx, tenant.id, { id: rotates.id, userId, now });
    await tx.insert(trustedDevices).values(row);
  };
  return { cookieChanges: { device }, write };
}

/** Ends the trust in all browsers of an account: after its password or a factor changed. */
export async function revokeDevices(tx: Queryable, tenantId: string, userId: string): Promise<void> {
  await tx
    .delete(trustedDevices)
    .where(and(eq(trustedDevices.tenantId, tenantId), eq(trustedDevices.userId, userId)));
}

/**
 * What follows from a token that was replaced and is shown again: one of two browsers holds a copy, and nobody can say
 * which. Both lose their trust, and the operator is told.
 */
export function revokeStolenDevice(context: RequestContext, userId: string): Write {
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
    .where(
      and(
        eq(trustedDevices.tenantId, tenantId),
        eq(trustedDevices.id, id),
        eq(trustedDevices.userId, userId),
        isNull(trustedDevices.replacedAt),
      ),
    )
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
        eq(trustedDevices.tenantId, sql.placeholder("tenantId")),
        eq(trustedDevices.tokenHash, sql.placeholder("tokenHash")),
        eq(trustedDevices.userId, sql.placeholder("userId")),
        gt(trustedDevices.expiresAt, sql.placeholder("now")),
      ),
    ),
);

function entryText({ userId, token }: DeviceEntry): string {
  return `${userId}:${token}`;
}

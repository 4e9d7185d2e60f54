import { and, asc, eq, lt, sql } from "drizzle-orm";
import { type ReadOnly, schema, type Transaction } from "#db/client";
import { prepared } from "#db/prepared";
import { audit } from "../audit/audit.ts";
import { isUuid } from "../lib/uuid.ts";
import type { ClientContext, Runtime } from "../runtime.ts";
import type { Tenant } from "../tenants/tenant.ts";
import type { VerifiedAssertion } from "./uaf/verify-authentication.ts";
import type { VerifiedRegistration } from "./uaf/verify-registration.ts";

/** Registered devices: the keys of authenticators, which applications register for their users. */

const { authenticatorDevices } = schema;

export type DeviceRow = typeof authenticatorDevices.$inferSelect;

/** A device; `keyId` in base64url, as UAF messages have it. */
export type Device = Omit<DeviceRow, "keyId"> & { keyId: string };

/** Description of a device by its app. All members are optional. */
export interface DeviceKeyInfo {
  pushToken?: string;
  secret?: string;
  keyName?: string;
  deviceOs?: string;
  osVersion?: string;
  manufacturer?: string;
  model?: string;
}

/** Context to which `sealedHandles` is bound. */
export const handlesSealContext = (tenantId: string, deviceId: string): string =>
  `authenticator handles ${tenantId} ${deviceId}`;

const ofUser = prepared("authenticator_devices_of_user", (db) =>
  db
    .select()
    .from(authenticatorDevices)
    .where(
      and(
        eq(authenticatorDevices.tenantId, sql.placeholder("tenantId")),
        eq(authenticatorDevices.userId, sql.placeholder("userId")),
      ),
    )
    .orderBy(asc(authenticatorDevices.createdAt), asc(authenticatorDevices.id)),
);

/**
 * Finds a user's devices, oldest first.
 *
 * @param ids restricts the result; null for all
 */
export async function devicesOf(
  db: ReadOnly,
  { id: tenantId }: Pick<Tenant, "id">,
  userId: string,
  ids: readonly string[] | null = null,
): Promise<Device[]> {
  const rows = await ofUser(db).execute({ tenantId, userId });
  return rows
    .filter(({ id }) => ids === null || ids.includes(id))
    .map((row) => ({ ...row, keyId: row.keyId.toString("base64url") }));
}

/**
 * Builds the row of a newly registered key.
 *
 * @param of `fallbackName`: the name of a device whose app sends neither a name nor a model
 */
export function newDevice(
  { vault, platform }: Pick<Runtime, "vault" | "platform">,
  key: VerifiedRegistration,
  of: {
    tenantId: string;
    userId: string;
    info: DeviceKeyInfo;
    fallbackName: string;
    isSecondFactorOnly: boolean;
    now: Date;
  },
): Device {
  const id = platform.uuid();
  const { pushToken, secret, keyName, deviceOs, osVersion, manufacturer, model } = of.info;
  const handles = { ...(pushToken ? { pushToken } : {}), ...(secret ? { secret } : {}) };
  const hasHandles = Object.keys(handles).length > 0;
  return {
    tenantId: of.tenantId,
    id,
    userId: of.userId,
    aaid: key.aaid,
    keyId: key.keyId,
    publicKey: key.publicKey,
    keyFormat: key.keyFormat,
    algorithm: key.algorithm,
    signCounter: key.signCounter,
    regCounter: key.regCounter,
    authenticatorVersion: key.authenticatorVersion,
    attestation: key.attestation,
    tcDisplayPng: key.tcDisplayPNGCharacteristics ?? null,
    keyName: keyName || model || of.fallbackName,
    deviceOs: deviceOs || null,
    osVersion: osVersion || null,
    manufacturer: manufacturer || null,
    model: model || null,
    sealedHandles: hasHandles
      ? vault.seal(Buffer.from(JSON.stringify(handles)), handlesSealContext(of.tenantId, id))
      : null,
    isSecondFactorOnly: of.isSecondFactorOnly,
    createdAt: of.now,
    lastUsedAt: of.now,
  };
}

/** Sorts keys in the order in which every transaction locks them, which prevents deadlocks. */
export function sortInLockOrder<Key extends { aaid: string; keyId: string }>(keys: readonly Key[]): Key[] {
  const name = ({ aaid, keyId }: Key) => `${aaid} ${keyId}`;
  return keys.toSorted((one, other) => (name(one) < name(other) ? -1 : 1));
}

/** @returns false if the key is already registered */
export async function insertDevice(tx: Transaction, device: Device): Promise<boolean> {
  const inserted = await tx
    .insert(authenticatorDevices)
    .values({ ...device, keyId: Buffer.from(device.keyId, "base64url") })
    .onConflictDoNothing()
    .returning({ id: authenticatorDevices.id });
  return inserted.length === 1;
}

/**
 * Records the use of a key if its signature counter has increased, or if both are zero: the authenticator has none. A
 * concurrent response may have stored the same counter.
 *
 * @returns the device's id; null if the counter has not increased
 */
export async function recordUse(
  tx: Transaction,
  of: { tenantId: string; userId: string },
  used: VerifiedAssertion,
  now: Date,
): Promise<string | null> {
  const { signCounter, authenticatorVersion } = used;
  const [row] = await tx
    .update(authenticatorDevices)
    .set({ signCounter, authenticatorVersion, lastUsedAt: now })
    .where(
      and(
        isKey(of, used),
        signCounter === 0
          ? eq(authenticatorDevices.signCounter, 0)
          : lt(authenticatorDevices.signCounter, signCounter),
      ),
    )
    .returning({ id: authenticatorDevices.id });
  return row?.id ?? null;
}

/** Whether a user's key is still registered. */
export async function isRegistered(
  tx: Transaction,
  of: { tenantId: string; userId: string },
  key: { aaid: string; keyId: string },
): Promise<boolean> {
  const found = await tx.select({ one: sql`1` }).from(authenticatorDevices).where(isKey(of, key));
  return found.length > 0;
}

function isKey(
  { tenantId, userId }: { tenantId: string; userId: string },
  { aaid, keyId }: { aaid: string; keyId: string },
) {
  return and(
    eq(authenticatorDevices.tenantId, tenantId),
    eq(authenticatorDevices.userId, userId),
    eq(authenticatorDevices.aaid, aaid),
    eq(authenticatorDevices.keyId, Buffer.from(keyId, "base64url")),
  );
}

/** @returns false if it does not exist */
export async function deleteDevice(
  tx: Transaction,
  { tenantId, id }: Pick<Device, "tenantId" | "id">,
): Promise<boolean> {
  const deleted = await tx
    .delete(authenticatorDevices)
    .where(and(eq(authenticatorDevices.tenantId, tenantId), eq(authenticatorDevices.id, id)))
    .returning({ id: authenticatorDevices.id });
  return deleted.length === 1;
}

/**
 * Renames a device.
 *
 * @param deviceId as the client sent it
 * @returns false when the tenant has no device with this id
 */
export async function renameDevice(
  context: ClientContext,
  deviceId: string,
  keyName: string,
): Promise<boolean> {
  if (!isUuid(deviceId)) return false;
  const { runtime, tenant } = context;
  return runtime.database.write.transaction(async (tx) => {
    const renamed = await tx
      .update(authenticatorDevices)
      .set({ keyName })
      .where(and(eq(authenticatorDevices.tenantId, tenant.id), eq(authenticatorDevices.id, deviceId)))
      .returning({ id: authenticatorDevices.id });
    if (renamed.length === 0) return false;
    await audit(context, "authenticator_renamed", { device_id: deviceId })(tx);
    return true;
  });
}

/** Returns the push tokens of devices that have one. */
export function pushTokensOf({ vault }: Pick<Runtime, "vault">, devices: readonly Device[]): string[] {
  return devices.flatMap(({ tenantId, id, sealedHandles }) => {
    if (!sealedHandles) return [];
    const opened = vault.unseal(sealedHandles, handlesSealContext(tenantId, id)).toString();
    const { pushToken } = JSON.parse(opened) as { pushToken?: string };
    return pushToken ? [pushToken] : [];
  });
}

import { and, asc, eq, inArray, lt, sql } from "drizzle-orm";
import { type ReadOnly, schema, type Transaction } from "#db/client";
import { audit } from "../audit/audit.ts";
import { isUuid } from "../lib/uuid.ts";
import type { ClientContext, Runtime } from "../runtime.ts";
import type { Tenant } from "../tenants/tenant.ts";
import type { UafAssertion } from "./uaf/verify-authentication.ts";
import type { UafRegistration } from "./uaf/verify-registration.ts";

/** Keys of authenticators that applications have registered for their users. */

const { authenticatorDevices } = schema;

export type DeviceRow = typeof authenticatorDevices.$inferSelect;

/** A device; `keyId` in base64url, as UAF messages have it. */
export type Device = Omit<DeviceRow, "keyId"> & { keyId: string };

/** What an app tells of the phone it runs on; an application may leave out any of it. */
export interface DeviceKeyInfo {
  pushToken?: string;
  secret?: string;
  keyName?: string;
  deviceOs?: string;
  osVersion?: string;
  manufacturer?: string;
  model?: string;
}

/** What `sealedHandles` is sealed for. */
export const handlesSealContext = (tenantId: string, deviceId: string): string =>
  `authenticator handles ${tenantId} ${deviceId}`;

/**
 * A user's devices, the oldest first.
 *
 * @param ids only these; null for all
 */
export async function devicesOf(
  db: ReadOnly,
  { id: tenantId }: Pick<Tenant, "id">,
  userId: string,
  ids: readonly string[] | null = null,
): Promise<Device[]> {
  const rows = await db
    .select()
    .from(authenticatorDevices)
    .where(
      and(
        eq(authenticatorDevices.tenantId, tenantId),
        eq(authenticatorDevices.userId, userId),
        ids === null ? undefined : inArray(authenticatorDevices.id, [...ids]),
      ),
    )
    .orderBy(asc(authenticatorDevices.createdAt), asc(authenticatorDevices.id));
  return rows.map((row) => ({ ...row, keyId: row.keyId.toString("base64url") }));
}

/**
 * The row of a key that was just registered.
 *
 * @param of `fallbackName`: what the device is called when nobody has named it
 */
export function newDevice(
  { vault, platform }: Pick<Runtime, "vault" | "platform">,
  key: UafRegistration,
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
  const kept = Object.keys(handles).length > 0;
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
    sealedHandles: kept
      ? vault.seal(Buffer.from(JSON.stringify(handles)), handlesSealContext(of.tenantId, id))
      : null,
    isSecondFactorOnly: of.isSecondFactorOnly,
    createdAt: of.now,
    lastUsedAt: of.now,
  };
}

/** Keys in the one order in which writes come to them: two that came by different ways would block each other. */
export function inWriteOrder<Key extends { aaid: string; keyId: string }>(keys: readonly Key[]): Key[] {
  const name = ({ aaid, keyId }: Key) => `${aaid} ${keyId}`;
  return keys.toSorted((one, other) => (name(one) < name(other) ? -1 : 1));
}

/** @returns false when the key is somebody's already */
export async function insertDevice(tx: Transaction, device: Device): Promise<boolean> {
  const kept = await tx
    .insert(authenticatorDevices)
    .values({ ...device, keyId: Buffer.from(device.keyId, "base64url") })
    .onConflictDoNothing()
    .returning({ id: authenticatorDevices.id });
  return kept.length === 1;
}

/**
 * Notes the use of a key, unless its counter has not grown, which another answer may have seen to meanwhile. Both
 * zero: the authenticator does not count.
 *
 * @returns the device's id; null when it has not
 */
export async function noteUse(
  tx: Transaction,
  of: { tenantId: string; userId: string },
  used: UafAssertion,
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

/** @returns false when it was gone */
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

/** Tokens by which an app's push service reaches some devices. */
export function pushTokensOf({ vault }: Pick<Runtime, "vault">, devices: readonly Device[]): string[] {
  return devices.flatMap(({ tenantId, id, sealedHandles }) => {
    if (!sealedHandles) return [];
    const opened = vault.unseal(sealedHandles, handlesSealContext(tenantId, id)).toString();
    const { pushToken } = JSON.parse(opened) as { pushToken?: string };
    return pushToken ? [pushToken] : [];
  });
}

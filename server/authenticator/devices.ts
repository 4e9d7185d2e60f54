import { and, asc, eq, sql } from "drizzle-orm";
import { type ReadOnly, schema, type Transaction } from "#db/client";
import type { Part } from "#db/part";
import { prepared } from "#db/prepared";
import { sealContext } from "#db/schema/table";
import { audit } from "../audit/audit.ts";
import type { Tenant } from "../config/tenant.ts";
import type { ClientContext } from "../context/context.ts";
import type { Sealing } from "../keys/vault.ts";
import type { OnPlatform } from "../lib/platform.ts";
import { isUuid } from "../lib/uuid.ts";
import type { Process } from "./process.ts";
import type { AnswerInput } from "./request-input.ts";
import type { VerifiedAssertion } from "./uaf/verify-authentication.ts";
import type { VerifiedRegistration } from "./uaf/verify-registration.ts";

/** Registered devices: the keys of authenticators, which applications register for their users. */

const { authenticatorDevices } = schema;

export type DeviceRow = typeof authenticatorDevices.$inferSelect;

/** A device; `keyId` in base64url, as UAF messages have it. */
export type Device = Omit<DeviceRow, "keyId"> & { keyId: string };

const contextOf = (tenantId: string, id: string) =>
  sealContext(authenticatorDevices, "sealedHandles", { tenantId, id });

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
  return rows.filter(({ id }) => ids === null || ids.includes(id)).map(deviceOf);
}

export function deviceOf(row: DeviceRow): Device {
  return { ...row, keyId: row.keyId.toString("base64url") };
}

/**
 * Builds the row of a newly registered key.
 *
 * @param of `fallbackName`: the name of a device whose app sends neither a name nor a model
 */
export function newDevice(
  { vault, platform }: Sealing & OnPlatform,
  key: VerifiedRegistration,
  of: {
    tenantId: string;
    userId: string;
    info: AnswerInput["deviceKeyInfo"];
    fallbackName: string;
    isSecondFactorOnly: boolean;
    now: Date;
  },
): Device {
  const id = platform.uuid();
  const { info, fallbackName, now, ...owner } = of;
  const { pushToken, secret, keyName, deviceOs, osVersion, manufacturer, model } = info;
  const { tcDisplayPNGCharacteristics: tcDisplayPng = null, ...registered } = key;
  const handles = { ...(pushToken ? { pushToken } : {}), ...(secret ? { secret } : {}) };
  const hasHandles = Object.keys(handles).length > 0;
  return {
    ...owner,
    id,
    ...registered,
    tcDisplayPng,
    keyName: keyName || model || fallbackName,
    deviceOs: deviceOs || null,
    osVersion: osVersion || null,
    manufacturer: manufacturer || null,
    model: model || null,
    sealedHandles: hasHandles
      ? vault.seal(Buffer.from(JSON.stringify(handles)), contextOf(of.tenantId, id))
      : null,
    createdAt: now,
    lastUsedAt: now,
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

const useText = `key_used as (
    update authenticator_devices d
    set sign_counter = k.sign_counter, authenticator_version = k.authenticator_version, last_used_at = $4
    from (select d.id, k.at, k.sign_counter, k.authenticator_version
      from jsonb_to_recordset($3::jsonb)
        as k (at int, aaid text, key_id bytea, sign_counter bigint, authenticator_version int)
      join authenticator_devices d
        on d.tenant_id = $1 and d.user_id = $2 and d.aaid = k.aaid and d.key_id = k.key_id
      order by k.at for update of d) k
    where d.tenant_id = $1 and d.id = k.id
      and case when k.sign_counter = 0 then d.sign_counter = 0 else d.sign_counter < k.sign_counter end
    returning k.at)`;

/**
 * Returns the part that records the use of keys whose signature counter has increased, or is zero as before: the
 * authenticator has none. A concurrent response may have stored the same counter; the part refuses if it was that of the
 * first key.
 *
 * @param used sorted by `sortInLockOrder`, which is the order in which they are locked
 */
export function keysUsed(
  of: { tenantId: string; userId: string },
  used: readonly VerifiedAssertion[],
  now: Date,
): Part {
  const keys = used.map(({ aaid, keyId, signCounter, authenticatorVersion }, at) => ({
    at,
    aaid,
    key_id: `\\x${Buffer.from(keyId, "base64url").toString("hex")}`,
    sign_counter: signCounter,
    authenticator_version: authenticatorVersion,
  }));
  return {
    name: "key_used",
    text: useText,
    values: [of.tenantId, of.userId, JSON.stringify(keys), now],
    refuses: "case when not exists (select 1 from key_used where at = 0) then 'authenticator_key' end",
  };
}

const ofTenant = (tenantId: string, id: string) =>
  and(eq(authenticatorDevices.tenantId, tenantId), eq(authenticatorDevices.id, id));

/** @returns false if it does not exist */
export async function deleteDevice(
  tx: Transaction,
  { tenantId, id }: Pick<Device, "tenantId" | "id">,
): Promise<boolean> {
  const deleted = await tx
    .delete(authenticatorDevices)
    .where(ofTenant(tenantId, id))
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
  context: ClientContext<Process>,
  deviceId: string,
  keyName: string,
): Promise<boolean> {
  if (!isUuid(deviceId)) return false;
  const { runtime, tenant } = context;
  return runtime.database.write.transaction(async (tx) => {
    const renamed = await tx
      .update(authenticatorDevices)
      .set({ keyName })
      .where(ofTenant(tenant.id, deviceId))
      .returning({ id: authenticatorDevices.id });
    if (renamed.length === 0) return false;
    await audit(context, "authenticator_renamed", { device_id: deviceId })(tx);
    return true;
  });
}

/** Returns the push tokens of devices that have one. */
export function pushTokensOf({ vault }: Sealing, devices: readonly Device[]): string[] {
  return devices.flatMap(({ tenantId, id, sealedHandles }) => {
    if (!sealedHandles) return [];
    const opened = vault.unseal(sealedHandles, contextOf(tenantId, id)).toString();
    const { pushToken } = JSON.parse(opened) as { pushToken?: string };
    return pushToken ? [pushToken] : [];
  });
}

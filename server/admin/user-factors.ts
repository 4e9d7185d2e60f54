import { dropFactorRemains } from "../account/access-revocation.ts";
import { type Device, deleteDevice, devicesOf } from "../authenticator/devices.ts";
import { canBeSecondFactor } from "../authenticator/second-factor.ts";
import { isUser } from "../identity/users.ts";
import type { Sealing } from "../keys/vault.ts";
import { securityNotice } from "../mail/security-notices.ts";
import type { RemovableMethod } from "../methods/index.ts";
import {
  countRecoveryCodes,
  deleteRecoveryCodes,
  replaceRecoveryCodes,
} from "../methods/recovery-code/recovery-codes.ts";
import { hasSecondFactor } from "../methods/second-factors.ts";
import {
  listTrustedDevices,
  revokeDevice,
  revokeDevices,
  type TrustedDevice,
} from "../sessions/trusted-devices.ts";
import { type AdminContext, changeUser } from "./change-user.ts";
import { type AdminVerdict, notFound, rejectAdmin } from "./rejections.ts";

/** Second factors of users: authenticator apps, recovery codes, trusted browsers, and phones. */

/** Removes the second factor of a user of which an account has one. */
export function removeUserFactor(
  context: AdminContext<Sealing>,
  { fact, removal, secondFactor }: RemovableMethod,
  userId: string,
): Promise<AdminVerdict> {
  return changeUser(context, userId, async ({ tx, user, jobs, owner, record }) => {
    if (!user[fact]) return notFound;
    await removal.write(context, userId)(tx);
    await record(removal.audit);
    await dropFactorRemains(tx, context, userId);
    jobs.push(...securityNotice(owner, "mfa_delete", user.email, { factor: secondFactor.notice }));
    return { ok: true };
  });
}

/** Counts the unused recovery codes of a user. */
export async function countUserRecoveryCodes(
  { runtime, tenant }: AdminContext<Sealing>,
  userId: string,
): Promise<AdminVerdict<{ remaining: number }>> {
  const { read } = runtime.database;
  if (!(await isUser(read, tenant.id, userId))) return notFound;
  return { ok: true, remaining: await countRecoveryCodes(read, tenant.id, userId) };
}

/**
 * Replaces the recovery codes of a user who has a second factor.
 *
 * @returns the codes, which cannot be shown again
 */
export function replaceUserRecoveryCodes(
  context: AdminContext<Sealing>,
  userId: string,
): Promise<AdminVerdict<{ codes: string[] }>> {
  const { config } = context.tenant;
  return changeUser(context, userId, async ({ tx, user, jobs, owner, record }) => {
    if (!config.mfa.recovery_codes || !hasSecondFactor(user, config))
      return rejectAdmin("conflict", "The user has no second factor, or recovery codes are disabled.");
    const { codes, write } = replaceRecoveryCodes(context, userId);
    await write(tx);
    await record("recovery_codes_created");
    jobs.push(...securityNotice(owner, "mfa_create", user.email, { factor: "recovery_codes" }));
    return { ok: true, codes };
  });
}

/** Removes the recovery codes of a user; a user without codes stays as it is. */
export function removeUserRecoveryCodes(
  context: AdminContext<Sealing>,
  userId: string,
): Promise<AdminVerdict> {
  return changeUser(context, userId, async ({ tx, user, jobs, owner, record }) => {
    if (!user.hasRecoveryCode) return { ok: true };
    await deleteRecoveryCodes(context, userId)(tx);
    await record("recovery_codes_deleted");
    jobs.push(...securityNotice(owner, "mfa_delete", user.email, { factor: "recovery_codes" }));
    return { ok: true };
  });
}

/** Lists the trusted browsers of a user, newest first. */
export async function listUserTrustedBrowsers(
  context: AdminContext<Sealing>,
  userId: string,
): Promise<AdminVerdict<{ browsers: TrustedDevice[] }>> {
  const { runtime, tenant } = context;
  const { read } = runtime.database;
  if (!(await isUser(read, tenant.id, userId))) return notFound;
  return { ok: true, browsers: await listTrustedDevices(read, context, userId) };
}

/** Ends the trust in a browser of a user. */
export function removeUserTrustedBrowser(
  context: AdminContext<Sealing>,
  userId: string,
  id: string,
): Promise<AdminVerdict> {
  return changeUser(context, userId, async ({ tx, record }) => {
    if (!(await revokeDevice(tx, context.tenant.id, { userId, id }))) return notFound;
    await record("trusted_device_revoked");
    return { ok: true };
  });
}

/** Ends the trust in all browsers of a user. */
export function removeUserTrustedBrowsers(
  context: AdminContext<Sealing>,
  userId: string,
): Promise<AdminVerdict> {
  return changeUser(context, userId, async ({ tx, record }) => {
    await revokeDevices(tx, context.tenant.id, userId);
    await record("trusted_device_revoked", { all: true });
    return { ok: true };
  });
}

/** Lists the phones of a user, which answer authenticator requests, oldest first. */
export async function listUserPhones(
  { runtime, tenant }: AdminContext<Sealing>,
  userId: string,
): Promise<AdminVerdict<{ phones: Device[] }>> {
  const { read } = runtime.database;
  if (!(await isUser(read, tenant.id, userId))) return notFound;
  return { ok: true, phones: await devicesOf(read, tenant, userId) };
}

/** Removes a phone of a user. It keeps its key, which is accepted nowhere. */
export function removeUserPhone(
  context: AdminContext<Sealing>,
  userId: string,
  id: string,
): Promise<AdminVerdict> {
  const { tenant } = context;
  return changeUser(context, userId, async ({ tx, user, jobs, owner, record }) => {
    const [phone] = await devicesOf(tx, tenant, userId, [id]);
    if (!phone || !(await deleteDevice(tx, phone))) return notFound;
    await record("authenticator_deregistered", { device_id: phone.id, aaid: phone.aaid });
    if (canBeSecondFactor(tenant.config, userId)) {
      await dropFactorRemains(tx, context, userId);
      jobs.push(...securityNotice(owner, "mfa_delete", user.email, { factor: "authenticator" }));
    }
    return { ok: true };
  });
}

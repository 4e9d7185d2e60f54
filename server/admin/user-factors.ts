import type { Databases } from "#db/client";
import { dropFactorRemains } from "../account/access-revocation.ts";
import type { AuditOutputs } from "../audit/audit-output.ts";
import { type Device, deleteDevice, devicesOf } from "../authenticator/devices.ts";
import { canBeSecondFactor } from "../authenticator/second-factor.ts";
import type { RequestContext } from "../context/context.ts";
import type { WakesWebhooks } from "../events/emit.ts";
import { isUser } from "../identity/users.ts";
import type { Enqueuing } from "../jobs/jobs.ts";
import type { Sealing } from "../keys/vault.ts";
import type { OnPlatform } from "../lib/platform.ts";
import type { MailJob } from "../mail/mail-job.ts";
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
import { changeUser } from "./change-user.ts";
import { type AdminRejection, notFound, rejectAdmin } from "./rejections.ts";

/** What this module takes of the process. */
type Process = OnPlatform & Databases & AuditOutputs & Sealing & WakesWebhooks & Enqueuing<MailJob>;

/** Second factors of users: authenticator apps, recovery codes, trusted browsers, and phones. */

/** Removes the second factor of a user of which an account has one. */
export function removeUserFactor(
  context: RequestContext<Process>,
  { fact, removal, secondFactor }: RemovableMethod,
  userId: string,
): Promise<{ ok: true } | AdminRejection> {
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
  { runtime, tenant }: RequestContext<Process>,
  userId: string,
): Promise<{ ok: true; remaining: number } | AdminRejection> {
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
  context: RequestContext<Process>,
  userId: string,
): Promise<{ ok: true; codes: string[] } | AdminRejection> {
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
  context: RequestContext<Process>,
  userId: string,
): Promise<{ ok: true } | AdminRejection> {
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
  context: RequestContext<Process>,
  userId: string,
): Promise<{ ok: true; browsers: TrustedDevice[] } | AdminRejection> {
  const { runtime, tenant } = context;
  const { read } = runtime.database;
  if (!(await isUser(read, tenant.id, userId))) return notFound;
  return { ok: true, browsers: await listTrustedDevices(read, context, userId) };
}

/** Ends the trust in a browser of a user. */
export function removeUserTrustedBrowser(
  context: RequestContext<Process>,
  userId: string,
  id: string,
): Promise<{ ok: true } | AdminRejection> {
  return changeUser(context, userId, async ({ tx, record }) => {
    if (!(await revokeDevice(tx, context.tenant.id, { userId, id }))) return notFound;
    await record("trusted_device_revoked");
    return { ok: true };
  });
}

/** Ends the trust in all browsers of a user. */
export function removeUserTrustedBrowsers(
  context: RequestContext<Process>,
  userId: string,
): Promise<{ ok: true } | AdminRejection> {
  return changeUser(context, userId, async ({ tx, record }) => {
    await revokeDevices(tx, context.tenant.id, userId);
    await record("trusted_device_revoked", { all: true });
    return { ok: true };
  });
}

/** Lists the phones of a user, which answer authenticator requests, oldest first. */
export async function listUserPhones(
  { runtime, tenant }: RequestContext<Process>,
  userId: string,
): Promise<{ ok: true; phones: Device[] } | AdminRejection> {
  const { read } = runtime.database;
  if (!(await isUser(read, tenant.id, userId))) return notFound;
  return { ok: true, phones: await devicesOf(read, tenant, userId) };
}

/** Removes a phone of a user. It keeps its key, which is accepted nowhere. */
export function removeUserPhone(
  context: RequestContext<Process>,
  userId: string,
  id: string,
): Promise<{ ok: true } | AdminRejection> {
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

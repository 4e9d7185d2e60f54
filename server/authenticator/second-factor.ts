import type { Transaction } from "#db/client";
import { ConflictError } from "#db/errors";
import type { Config } from "../config/schema.ts";
import type { Tenant } from "../config/tenant.ts";
import { factsById } from "../identity/facts.ts";
import { lockUser } from "../identity/lock-user.ts";
import { isCanonicalUuid } from "../lib/uuid.ts";
import { deleteRecoveryCodes } from "../methods/recovery-code/recovery-codes.ts";
import { keepsRecoveryCodes } from "../methods/second-factors.ts";
import { revokeDevices } from "../sessions/trusted-devices.ts";

/** Effects on an account when an authenticator becomes its second factor, or no longer is. */

/**
 * Whether the authenticators of this user are second factors of an account, if there is one.
 *
 * @param userId the application's user id, which refers to an account if it is an account's id
 */
export function canBeSecondFactor({ mfa }: Pick<Config, "mfa">, userId: string): boolean {
  return mfa.enabled && mfa.authenticator.enabled && isCanonicalUuid(userId);
}

/** The id of the account that an application's user id names; null if it names none. */
export function accountNamedBy(userId: string): string | null {
  return isCanonicalUuid(userId) ? userId : null;
}

/**
 * Revokes the account's trusted devices, as after any change of a second factor (NIST SP 800-63B-4, 4.1.2.1). Call it
 * before writing the authenticators: the account is locked first.
 */
export async function revokeTrustedDevices(
  tx: Transaction,
  { id: tenantId, config }: Tenant,
  userId: string,
): Promise<void> {
  if (!canBeSecondFactor(config, userId)) return;
  try {
    await lockUser(tx, tenantId, userId);
  } catch (error) {
    // The account does not exist, or was deleted concurrently.
    if (error instanceof ConflictError) return;
    throw error;
  }
  await revokeDevices(tx, tenantId, userId);
}

/** Deletes the recovery codes if the account has no second factor left. Call it after deleting the authenticators. */
export async function deleteUnusedRecoveryCodes(
  tx: Transaction,
  tenant: Tenant,
  userId: string,
): Promise<void> {
  if (!canBeSecondFactor(tenant.config, userId)) return;
  const account = await factsById(tx, tenant.id, userId);
  if (!account || keepsRecoveryCodes(account, tenant.config)) return;
  await deleteRecoveryCodes({ tenant }, userId)(tx);
}

import type { Transaction } from "#db/client";
import { ConflictError } from "#db/errors";
import type { Config } from "../config/schema.ts";
import { deleteRecoveryCodes } from "../credentials/recovery-codes.ts";
import { revokeDevices } from "../credentials/trusted-devices.ts";
import { factsById, lockUser } from "../identity/users.ts";
import { isCanonicalUuid } from "../lib/uuid.ts";
import type { Tenant } from "../tenants/tenant.ts";

/** What follows for an account when a phone becomes a second factor of it, or is none any more. */

/**
 * Whether phones of this user are second factors of an account, if it is there.
 *
 * @param userId as the application calls its user: an account is meant where it is the id of one
 */
export function mayBeFactor({ mfa }: Pick<Config, "mfa">, userId: string): boolean {
  return mfa.enabled && mfa.authenticator.enabled && isCanonicalUuid(userId);
}

/**
 * Asks the account's browsers for the second factor anew, as after any change of one (NIST SP 800-63B-4, 4.1.2.1).
 * Comes before the phones are written: the account is locked before what hangs on it.
 */
export async function distrustBrowsers(
  tx: Transaction,
  { id: tenantId, config }: Tenant,
  userId: string,
): Promise<void> {
  if (!mayBeFactor(config, userId)) return;
  try {
    await lockUser(tx, tenantId, userId);
  } catch (error) {
    // There is no account of this id, or none any more.
    if (error instanceof ConflictError) return;
    throw error;
  }
  await revokeDevices(tx, tenantId, userId);
}

/** Recovery codes go with the last factor that they stood in for. Comes after the phones are gone. */
export async function dropIdleCodes(tx: Transaction, tenant: Tenant, userId: string): Promise<void> {
  if (!mayBeFactor(tenant.config, userId)) return;
  const account = await factsById(tx, tenant.id, userId);
  if (!account || account.hasTotp || account.hasSecurityKey || account.hasAuthenticator) return;
  await deleteRecoveryCodes({ tenant }, userId)(tx);
}

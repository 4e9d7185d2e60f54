import { and, eq } from "drizzle-orm";
import { schema, type Transaction } from "#db/client";
import { type AuditContext, audit } from "../audit/audit.ts";
import type { Tenant } from "../config/tenant.ts";
import type { ClientContext } from "../context/context.ts";
import { commitWithJobs } from "../jobs/commit-with-jobs.ts";
import { type Device, deleteDevice, devicesOf, sortInLockOrder } from "./devices.ts";
import type { Process } from "./process.ts";
import { accountNamedBy, deleteUnusedRecoveryCodes, revokeTrustedDevices } from "./second-factor.ts";
import { authenticatorNotice } from "./security-notice.ts";

const { authenticatorRequests } = schema;

/**
 * Deletes a user with all devices and requests. The authenticators keep their keys, which are accepted nowhere; a `DEREG`
 * before it deletes those too. The response to a pending request changes nothing.
 *
 * @returns the deleted devices; null if the user has neither devices nor requests
 */
export async function deleteUser(tx: Transaction, tenant: Tenant, userId: string): Promise<Device[] | null> {
  if (userId.includes("\0")) return null;
  await revokeTrustedDevices(tx, tenant, userId);
  const devices: Device[] = [];
  for (const device of sortInLockOrder(await devicesOf(tx, tenant, userId)))
    if (await deleteDevice(tx, device)) devices.push(device);
  await deleteUnusedRecoveryCodes(tx, tenant, userId);
  const requests = await tx
    .delete(authenticatorRequests)
    .where(and(eq(authenticatorRequests.tenantId, tenant.id), eq(authenticatorRequests.userId, userId)))
    .returning({ id: authenticatorRequests.id });
  return devices.length + requests.length > 0 ? devices : null;
}

/**
 * Deletes a user for an application, and notifies the account owner if that removes a second factor.
 *
 * @returns false if there is no such user
 */
export async function removeUser(context: ClientContext<Process>, userId: string): Promise<boolean> {
  const { runtime, tenant } = context;
  const devices = await devicesOf(runtime.database.read, tenant, userId);
  const notices = devices.length > 0 ? await authenticatorNotice(context, "mfa_delete", userId) : [];
  return commitWithJobs(runtime, notices, { ...context, userId: accountNamedBy(userId) }, async (tx) => {
    const deleted = await deleteUser(tx, tenant, userId);
    await recordDeregistrations(tx, context, deleted ?? []);
    return deleted !== null;
  });
}

/** Records in the audit log that devices were deleted with their user. */
export async function recordDeregistrations(
  tx: Transaction,
  context: AuditContext,
  devices: readonly Device[],
): Promise<void> {
  for (const { id, aaid } of devices)
    await audit(context, "authenticator_deregistered", { device_id: id, aaid })(tx);
}

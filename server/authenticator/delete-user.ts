import { and, eq } from "drizzle-orm";
import { schema } from "#db/client";
import { audit } from "../audit/audit.ts";
import { commitWithJobs } from "../jobs/commit-with-jobs.ts";
import type { ClientContext } from "../runtime.ts";
import { deleteDevice, devicesOf, sortInLockOrder } from "./devices.ts";
import { deleteUnusedRecoveryCodes, revokeTrustedDevices } from "./second-factor.ts";
import { authenticatorNotice } from "./security-notice.ts";

const { authenticatorRequests } = schema;

/**
 * Deletes a user's devices and requests. The authenticators keep their keys, which are accepted nowhere; a `DEREG` before
 * it deletes those too. The response to a pending request changes nothing.
 *
 * @returns false if the user has neither
 */
export async function deleteAuthenticatorUser(context: ClientContext, userId: string): Promise<boolean> {
  const { runtime, tenant } = context;
  const devices = await devicesOf(runtime.database.read, tenant, userId);
  const notices = devices.length > 0 ? await authenticatorNotice(context, "mfa_delete", userId) : [];
  return commitWithJobs(runtime, notices, async (tx) => {
    await revokeTrustedDevices(tx, tenant, userId);
    for (const device of sortInLockOrder(devices)) {
      if (!(await deleteDevice(tx, device))) continue;
      const details = { device_id: device.id, aaid: device.aaid };
      await audit(context, "authenticator_deregistered", details)(tx);
    }
    await deleteUnusedRecoveryCodes(tx, tenant, userId);
    const requests = await tx
      .delete(authenticatorRequests)
      .where(and(eq(authenticatorRequests.tenantId, tenant.id), eq(authenticatorRequests.userId, userId)))
      .returning({ id: authenticatorRequests.id });
    return devices.length + requests.length > 0;
  });
}

import { and, eq, isNull, notInArray } from "drizzle-orm";
import { schema, type Transaction } from "#db/client";
import { flowTypesOfSessions } from "#db/schema/flows";
import { rulesOf } from "#db/schema/table";
import { tables } from "#db/tables";
import type { EventContext } from "../events/emit.ts";
import { factsById } from "../identity/facts.ts";
import { lockUser } from "../identity/lock-user.ts";
import { deleteRecoveryCodes } from "../methods/recovery-code/recovery-codes.ts";
import { keepsRecoveryCodes } from "../methods/second-factors.ts";
import { endOtherSessions, type SessionEnd } from "../sessions/sessions.ts";
import { revokeDevices } from "../sessions/trusted-devices.ts";
import { deleteRows } from "./delete-rows.ts";

const { flows } = schema;

const tablesRevoked = (how: "access" | "credential") =>
  tables.filter((table) => {
    const rules = rulesOf(table);
    return rules.owner === "account" && rules.revoked === how;
  });

/** Credentials that authenticate a user, second factors included. */
const credentialTables = tablesRevoked("credential");

/** Unfinished sign-ins, and trust that shortens the next one. Sessions end with an event each. */
const accessTables = tablesRevoked("access");

/**
 * Deletes every credential of an account when a mailed code verifies its address for the first time: an attacker may
 * have registered the account before the owner of the address ("Pre-hijacked accounts", Sudhodanan and Paverd, 2022).
 * Revoked are passwords, passkeys, second factors, identities, trusted devices, sessions, and unfinished sign-ins.
 *
 * Must run before the new session of the same step is written.
 *
 * @param flowId the flow that verified the address, which is kept
 * @throws ConflictError("user") if the account does not exist
 */
export async function dropCredentialsSetBeforeVerification(
  tx: Transaction,
  context: EventContext,
  userId: string,
  flowId: string,
): Promise<void> {
  const tenantId = context.tenant.id;
  await revokeAccess(tx, context, userId, flowId);
  await deleteRows(tx, credentialTables, { tenantId, userId, flowId });
}

/**
 * Revokes the sessions and trusted devices of an account and deletes its other flows and provider requests, so that a
 * sign-in begun with an old password cannot finish. The lock waits for a step that is being written concurrently.
 *
 * @param flowId the current flow, which is kept; null for a change that the operator makes
 * @throws ConflictError("user") if the account does not exist
 */
export async function revokeAccess(
  tx: Transaction,
  context: EventContext,
  userId: string,
  flowId: string | null,
  event: SessionEnd = "session.delete.explicit.revoke",
): Promise<void> {
  const tenantId = context.tenant.id;
  await lockUser(tx, tenantId, userId);
  await deleteRows(tx, accessTables, { tenantId, userId, flowId });
  await endOtherSessions(context, userId, event)(tx);
}

/**
 * Deletes the unfinished sign-ins of an account, so that one begun with a removed credential cannot finish. Sessions and
 * flows of sessions stay.
 *
 * @throws ConflictError("user") if the account does not exist
 */
export async function endSignIns(tx: Transaction, tenantId: string, userId: string): Promise<void> {
  await lockUser(tx, tenantId, userId);
  const unfinished = and(notInArray(flows.type, [...flowTypesOfSessions]), isNull(flows.finishedAt));
  await tx.delete(flows).where(and(eq(flows.tenantId, tenantId), eq(flows.userId, userId), unfinished));
}

/**
 * Ends what relies on a second factor that was removed: trusted devices, unfinished sign-ins, and the recovery codes of
 * an account without another second factor.
 *
 * @throws ConflictError("user") if the account does not exist
 */
export async function dropFactorRemains(
  tx: Transaction,
  { tenant }: Pick<EventContext, "tenant">,
  userId: string,
): Promise<void> {
  await endSignIns(tx, tenant.id, userId);
  await revokeDevices(tx, tenant.id, userId);
  const account = await factsById(tx, tenant.id, userId);
  if (!account || keepsRecoveryCodes(account, tenant.config)) return;
  await deleteRecoveryCodes({ tenant }, userId)(tx);
}

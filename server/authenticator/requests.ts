import { and, eq, isNull, type SQL, sql } from "drizzle-orm";
import { schema, type Transaction } from "#db/client";
import { databaseNow } from "#db/clock";
import { audit } from "../audit/audit.ts";
import type { ClientContext, Runtime } from "../runtime.ts";
import type { Tenant } from "../tenants/tenant.ts";
import { requestErrors } from "./request-errors.ts";
import { isRequestId } from "./request-tokens.ts";

/** Requests that wait for an authenticator's answer, and what came of them. */

const { authenticatorRequests, authenticatorDevices } = schema;

export type RequestRow = typeof authenticatorRequests.$inferSelect;

export type Operation = "REG" | "AUTH" | "DEREG";

/** Only what is `PENDING` changes, and once. */
export type RequestStatus = "PENDING" | "OK" | "FAILED" | "INVALIDATED";

/** A request as it stands at a moment: one whose time is over counts as invalidated, whatever its row says. */
export interface AuthenticatorRequest extends RequestRow {
  operation: Operation;
  status: RequestStatus;
  /** The device that was registered or that answered, as long as it is registered. */
  device: { deviceId: string; keyName: string } | null;
}

/**
 * Finds a request.
 *
 * @param id whatever a client sent
 * @returns null when the tenant has none of this id; `now`: the moment, by the database's clock
 */
export async function findRequest(
  { database, platform }: Pick<Runtime, "database" | "platform">,
  tenant: Pick<Tenant, "id">,
  id: string,
): Promise<{ request: AuthenticatorRequest; now: Date } | null> {
  if (!isRequestId(id)) return null;
  const [found] = await database.read
    .select({
      row: authenticatorRequests,
      keyName: authenticatorDevices.keyName,
      now: databaseNow(platform.clockShift()),
    })
    .from(authenticatorRequests)
    .leftJoin(authenticatorDevices, isItsDevice)
    .where(isRequest(tenant.id, id));
  if (!found) return null;
  return { request: asOf(found.row, found.now, found.keyName), now: found.now };
}

/** Condition: it is the device that was registered by a request, or that answered it. */
export const isItsDevice: SQL | undefined = and(
  eq(authenticatorDevices.tenantId, authenticatorRequests.tenantId),
  eq(authenticatorDevices.id, authenticatorRequests.deviceId),
);

/** @param keyName of the request's device, if it is known */
export function asOf(row: RequestRow, now: Date, keyName: string | null = null): AuthenticatorRequest {
  const operation = row.operation as Operation;
  const status = row.status as RequestStatus;
  const device = row.deviceId && keyName !== null ? { deviceId: row.deviceId, keyName } : null;
  if (status !== "PENDING" || row.validUntil > now) return { ...row, operation, status, device };
  return { ...row, operation, status: "INVALIDATED", error: requestErrors.expired, device };
}

/** Ends a request that nobody has answered; one that has ended stays as it is. */
export async function cancelRequest(acting: ClientContext, id: string): Promise<void> {
  const { runtime, now } = acting;
  await runtime.database.write.transaction(async (tx) => {
    const cancelled = await endRequest(tx, isOpen(acting, id), {
      status: "FAILED",
      error: requestErrors.cancelled,
      answeredAt: now,
    });
    if (!cancelled) return;
    const { code } = requestErrors.cancelled;
    await audit(acting, "authenticator_request_failed", { request_id: id, code })(tx);
  });
}

/** Condition: it is this one, and may still be answered. */
export function isOpen(
  { runtime, tenant }: Pick<ClientContext, "runtime" | "tenant">,
  id: string,
): SQL | undefined {
  return and(isRequest(tenant.id, id), mayBeAnswered(runtime));
}

/** Condition: it may still be answered. */
export function mayBeAnswered({ platform }: Pick<Runtime, "platform">): SQL | undefined {
  return and(
    eq(authenticatorRequests.status, "PENDING"),
    sql`${authenticatorRequests.validUntil} > ${databaseNow(platform.clockShift())}`,
  );
}

/**
 * Takes a request out of `PENDING`, for good.
 *
 * @returns false when there was none that could be
 */
export async function endRequest(
  tx: Transaction,
  which: SQL | undefined,
  outcome: Pick<RequestRow, "status" | "error"> & Partial<Pick<RequestRow, "deviceId" | "answeredAt">>,
): Promise<boolean> {
  const ended = await tx
    .update(authenticatorRequests)
    .set({ ...outcome, challenge: null, sealedDeviceToken: null })
    .where(which)
    .returning({ id: authenticatorRequests.id });
  return ended.length > 0;
}

/**
 * Takes the challenge, so that one answer is judged and no other.
 *
 * @returns false when it was taken before, or the request is over
 */
export async function takeChallenge(
  { runtime, tenant }: Pick<ClientContext, "runtime" | "tenant">,
  { id, challenge }: Pick<RequestRow, "id" | "challenge">,
): Promise<boolean> {
  if (challenge === null) return false;
  const taken = await runtime.database.write
    .update(authenticatorRequests)
    .set({ challenge: null })
    .where(and(isOpen({ runtime, tenant }, id), eq(authenticatorRequests.challenge, challenge)))
    .returning({ id: authenticatorRequests.id });
  return taken.length > 0;
}

/** Condition: its challenge was taken, and nothing came of it yet. */
export function isBeingJudged(
  acting: Pick<ClientContext, "runtime" | "tenant">,
  id: string,
): SQL | undefined {
  return and(isOpen(acting, id), isNull(authenticatorRequests.challenge));
}

function isRequest(tenantId: string, id: string): SQL | undefined {
  return and(eq(authenticatorRequests.tenantId, tenantId), eq(authenticatorRequests.id, id));
}

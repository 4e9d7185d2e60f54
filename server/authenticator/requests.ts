import { and, eq, isNull, type SQL, sql } from "drizzle-orm";
import { schema, type Transaction } from "#db/client";
import { databaseNow } from "#db/clock";
import { prepared } from "#db/prepared";
import { audit } from "../audit/audit.ts";
import type { ClientContext, Runtime } from "../runtime.ts";
import type { Tenant } from "../tenants/tenant.ts";
import { requestErrors } from "./request-errors.ts";
import { isRequestId } from "./request-tokens.ts";

/** Requests to authenticators, and their results. */

const { authenticatorRequests, authenticatorDevices } = schema;

export type RequestRow = typeof authenticatorRequests.$inferSelect;

export type Operation = "REG" | "AUTH" | "DEREG";

/** `PENDING` changes once, to one of the others, which are final. */
export type RequestStatus = "PENDING" | "OK" | "FAILED" | "INVALIDATED";

/** A request with its current status: an expired one is invalidated, whatever its row says. */
export interface AuthenticatorRequest extends RequestRow {
  operation: Operation;
  status: RequestStatus;
  /** The device that was registered or has answered, while it is registered. */
  device: { deviceId: string; keyName: string } | null;
}

/** Join condition: the device that a request registered, or that has answered it. */
export const isDeviceOfRequest: SQL | undefined = and(
  eq(authenticatorDevices.tenantId, authenticatorRequests.tenantId),
  eq(authenticatorDevices.id, authenticatorRequests.deviceId),
);

const byId = prepared("authenticator_request", (db) =>
  db
    .select({
      row: authenticatorRequests,
      keyName: authenticatorDevices.keyName,
      now: databaseNow(sql.placeholder("shift")),
    })
    .from(authenticatorRequests)
    .leftJoin(authenticatorDevices, isDeviceOfRequest)
    .where(
      and(
        eq(authenticatorRequests.tenantId, sql.placeholder("tenantId")),
        eq(authenticatorRequests.id, sql.placeholder("id")),
      ),
    ),
);

/**
 * Finds a request.
 *
 * @param id as sent by the client
 * @returns null if the tenant has no such request; `now`: the time by the database's clock
 */
export async function findRequest(
  { database, platform }: Pick<Runtime, "database" | "platform">,
  tenant: Pick<Tenant, "id">,
  id: string,
): Promise<{ request: AuthenticatorRequest; now: Date } | null> {
  if (!isRequestId(id)) return null;
  const [found] = await byId(database.read).execute({
    tenantId: tenant.id,
    id,
    shift: platform.clockShift(),
  });
  if (!found) return null;
  return { request: requestFromRow(found.row, found.now, found.keyName), now: found.now };
}

/** @param keyName of the request's device, if it is registered */
export function requestFromRow(
  row: RequestRow,
  now: Date,
  keyName: string | null = null,
): AuthenticatorRequest {
  const operation = row.operation as Operation;
  const status = row.status as RequestStatus;
  const device = row.deviceId && keyName !== null ? { deviceId: row.deviceId, keyName } : null;
  if (status !== "PENDING" || row.validUntil > now) return { ...row, operation, status, device };
  return { ...row, operation, status: "INVALIDATED", error: requestErrors.expired, device };
}

/** Cancels a pending request; one that has ended stays as it is. */
export async function cancelRequest(context: ClientContext, id: string): Promise<void> {
  const { runtime, now } = context;
  await runtime.database.write.transaction(async (tx) => {
    const cancelled = await endRequest(tx, isOpenRequest(context, id), {
      status: "FAILED",
      error: requestErrors.cancelled,
      answeredAt: now,
    });
    if (!cancelled) return;
    const { code } = requestErrors.cancelled;
    await audit(context, "authenticator_request_failed", { request_id: id, code })(tx);
  });
}

/** Condition: this request, and it can still be answered. */
export function isOpenRequest(
  { runtime, tenant }: Pick<ClientContext, "runtime" | "tenant">,
  id: string,
): SQL | undefined {
  return and(isRequest(tenant.id, id), isAnswerable(runtime));
}

/** Condition: the request can still be answered. */
export function isAnswerable({ platform }: Pick<Runtime, "platform">): SQL | undefined {
  return and(
    eq(authenticatorRequests.status, "PENDING"),
    sql`${authenticatorRequests.validUntil} > ${databaseNow(platform.clockShift())}`,
  );
}

/**
 * Ends a pending request.
 *
 * @returns false if no request matched
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
 * Consumes the challenge, so that only one response is verified.
 *
 * @returns false if it was consumed before, or the request has ended
 */
export async function consumeChallenge(
  { runtime, tenant }: Pick<ClientContext, "runtime" | "tenant">,
  { id, challenge }: Pick<RequestRow, "id" | "challenge">,
): Promise<boolean> {
  if (challenge === null) return false;
  const taken = await runtime.database.write
    .update(authenticatorRequests)
    .set({ challenge: null })
    .where(and(isOpenRequest({ runtime, tenant }, id), eq(authenticatorRequests.challenge, challenge)))
    .returning({ id: authenticatorRequests.id });
  return taken.length > 0;
}

/** Condition: its challenge is consumed, and the result not yet written. */
export function isBeingVerified(
  context: Pick<ClientContext, "runtime" | "tenant">,
  id: string,
): SQL | undefined {
  return and(isOpenRequest(context, id), isNull(authenticatorRequests.challenge));
}

function isRequest(tenantId: string, id: string): SQL | undefined {
  return and(eq(authenticatorRequests.tenantId, tenantId), eq(authenticatorRequests.id, id));
}

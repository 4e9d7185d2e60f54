import { and, eq, type SQL, sql } from "drizzle-orm";
import { type Databases, schema } from "#db/client";
import { databaseNow } from "#db/clock";
import { prepared } from "#db/prepared";
import type { Tenant } from "../config/tenant.ts";
import { requestErrors } from "../failures/authenticator-requests.ts";
import type { OnPlatform } from "../lib/platform.ts";
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
  { database, platform }: Databases & OnPlatform,
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

/** Condition: the request can still be answered. */
export function isAnswerable({ platform }: OnPlatform): SQL | undefined {
  return and(
    eq(authenticatorRequests.status, "PENDING"),
    sql`${authenticatorRequests.validUntil} > ${databaseNow(platform.clockShift())}`,
  );
}

import { schema } from "#db/client";
import { clockText } from "#db/clock";
import { commit } from "#db/commit";
import { ConflictError } from "#db/errors";
import { insertOfJson, type JsonRow, jsonOfRow, rowOfJson } from "#db/json-row";
import type { Part } from "#db/part";
import { runTogether } from "#db/together";
import { writeOf } from "#db/write";
import { audit } from "../audit/audit.ts";
import type { ClientContext, TenantContext } from "../context/context.ts";
import { requestErrors } from "../failures/authenticator-requests.ts";
import { type Device, deviceOf } from "./devices.ts";
import type { Process } from "./process.ts";
import type { RequestRow } from "./requests.ts";

/** Changes of requests to authenticators, as parts of statements. */

const { authenticatorRequests, authenticatorDevices } = schema;

type Context = TenantContext<Process>;

/** SQL of `isAnswerable`; `shift`: the parameter of the clock's shift. */
const answerable = (shift: string) => `status = 'PENDING' and valid_until > ${clockText(shift)}`;

const endText = `request_ended as (
  update authenticator_requests
  set status = $3, error = $4::jsonb, device_id = $5::uuid, answered_at = $6::timestamptz, challenge = null,
    sealed_device_token = null
  where tenant_id = $1 and id = $2 and ${answerable("$7")} and (challenge is null or $8 = 'open')
  returning *)`;

/** What `endOfRequest` returns: see `endedRequest`. */
export interface EndedRequest {
  request_ended: JsonRow | null;
}

/**
 * Returns the part that ends a request. It refuses, as `hasRequestEnded` tells, if the request has ended.
 *
 * @param when `verified`: only if its challenge is consumed, and the result not yet written; `open`: in any case
 */
export function endOfRequest(
  { runtime, tenant }: Context,
  id: string,
  { status, error, deviceId, answeredAt }: Pick<RequestRow, "status" | "error" | "deviceId" | "answeredAt">,
  when: "verified" | "open",
): Part {
  const shift = runtime.platform.clockShift();
  return {
    name: "request_ended",
    text: endText,
    values: [tenant.id, id, status, error && JSON.stringify(error), deviceId, answeredAt, shift, when],
    refuses: "case when not exists (select 1 from request_ended) then 'authenticator_request' end",
    returns: "(select row_to_json(request_ended) from request_ended)",
  };
}

/** The row of a request that was ended; null if the part has not run. */
export function endedRequest({ request_ended: json }: Partial<EndedRequest>): RequestRow | null {
  return json ? rowOfJson(authenticatorRequests, json) : null;
}

/** Whether a write failed because its request had ended. */
export function hasRequestEnded(error: unknown): boolean {
  return error instanceof ConflictError && error.reason === "authenticator_request";
}

/** Cancels a pending request; one that has ended stays as it is. */
export async function cancelRequest(context: ClientContext<Process>, id: string): Promise<void> {
  const { runtime, now } = context;
  const error = requestErrors.cancelled;
  const ending = endOfRequest(
    context,
    id,
    { status: "FAILED", error, deviceId: null, answeredAt: now },
    "open",
  );
  const entry = audit(context, "authenticator_request_failed", {
    request_id: id,
    reason: "cancelled",
    code: error.code,
  });
  try {
    await commit(runtime.database, [writeOf(ending), entry]);
  } catch (failure) {
    if (!hasRequestEnded(failure)) throw failure;
  }
}

const supersedeText = `superseded as (
  update authenticator_requests
  set status = 'INVALIDATED', error = $5::jsonb, challenge = null, sealed_device_token = null
  where tenant_id = $1 and user_id = $2 and operation = $3 and flow_id is not distinct from $4::uuid
    and ${answerable("$6")})`;

/** Returns the parts that invalidate an older request of the same user and operation, or of the same sign-in. */
export function supersedeOlder(
  { runtime, tenant }: Context,
  { userId, operation, flowId }: Pick<RequestRow, "userId" | "operation" | "flowId">,
): Part[] {
  const error = JSON.stringify(requestErrors.superseded);
  return [
    {
      // Serializes concurrent requests, so that the second supersedes the first.
      name: "requests_serialized",
      text: "",
      values: [`authenticator request ${tenant.id} ${operation} ${userId}`],
      returns: "pg_advisory_xact_lock(hashtextextended($1, 0))::text",
    },
    {
      name: "superseded",
      text: supersedeText,
      values: [tenant.id, userId, operation, flowId, error, runtime.platform.clockShift()],
      begins: true,
    },
  ];
}

const insertText = `request_inserted as (${insertOfJson(authenticatorRequests)})`;

/** Returns the part that inserts a request. */
export function insertRequest(row: RequestRow): Part {
  return { name: "request_inserted", text: insertText, values: [jsonOfRow(authenticatorRequests, row)] };
}

const takeText = `challenge_taken as (
  update authenticator_requests set challenge = null
  where tenant_id = $1 and id = $2 and challenge = $3 and ${answerable("$4")}
  returning tenant_id, user_id)`;

const devicesOfTaken = `(
  select json_build_object('devices', (
    select coalesce(json_agg(row_to_json(d) order by d.created_at, d.id), '[]') from authenticator_devices d
    where d.tenant_id = $1 and d.user_id = t.user_id))
  from challenge_taken t)`;

/**
 * Consumes the challenge, so that only one response is verified, and reads the devices of the user. After a crash of the
 * database the challenge may be there again, but no result of its response.
 *
 * @returns the devices, oldest first; null if the challenge was consumed before, or the request has ended
 */
export async function takeChallenge(
  { runtime, tenant }: Context,
  { id, challenge }: Pick<RequestRow, "id" | "challenge">,
): Promise<Device[] | null> {
  if (challenge === null) return null;
  const part: Part = {
    name: "challenge_taken",
    text: takeText,
    values: [tenant.id, id, challenge, runtime.platform.clockShift()],
    returns: devicesOfTaken,
  };
  const { challenge_taken: taken } = await runTogether<{ challenge_taken: { devices: JsonRow[] } | null }>(
    runtime.database,
    [part],
    "claim",
  );
  return taken?.devices.map((json) => deviceOf(rowOfJson(authenticatorDevices, json))) ?? null;
}

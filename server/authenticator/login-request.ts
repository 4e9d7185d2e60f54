import { and, desc, eq } from "drizzle-orm";
import { schema } from "#db/client";
import { type Write, writeOf } from "#db/write";
import type { Tenant } from "../config/tenant.ts";
import type { RequestContext, TenantContext } from "../context/context.ts";
import { qrCodeDataUrl } from "../lib/qr-code.ts";
import { prepareRequest } from "./create-request.ts";
import { devicesOf } from "./devices.ts";
import type { Process } from "./process.ts";
import type { AuthenticatorJob } from "./push-job.ts";
import { eventsPath, qrCodeContent } from "./request-addresses.ts";
import { openDeviceToken, viewToken } from "./request-tokens.ts";
import { type AuthenticatorRequest, isDeviceOfRequest, requestFromRow } from "./requests.ts";

/** Requests of a sign-in: an authenticator as second factor of the account whose id is the request's user id. */

const { authenticatorDevices, authenticatorRequests } = schema;

/** Time that a user should have to answer a request; half its lifetime if that is shorter. */
const MIN_REMAINING_SECONDS = 30;

/** From the creation of a request to the step that uses its answer (NIST SP 800-63B-4, 3.1.3.2). */
const MAX_ANSWER_AGE_SECONDS = 600;

export interface LoginRequest {
  flowId: string;
  /** Id of the account that the device is registered for. */
  userId: string;
}

/** Payload of the flow state, which the page shows. */
export interface LoginRequestPayload {
  request_id: string;
  /** The QR code, a PNG as a data URL (RFC 2397); empty once the request is answered. */
  qr_image_source: string;
  /** Path of the server-sent events, or of long polling, relative to the base URL. */
  events_href: string;
  /** ISO 8601 */
  valid_until: string;
}

export type LoginRequestResult =
  /** `write` is present for a new request: it inserts the request, and `jobs`, which commit with it, notify the devices. */
  | { ok: true; shown: LoginRequestPayload; write?: Write; jobs: AuthenticatorJob[] }
  /** The user has no registered device. */
  | { ok: false; reason: "no_authenticator" }
  /** Too many requests for this user from this source. */
  | { ok: false; reason: "rate_limited"; retryAfterSeconds: number };

/**
 * Ensures that the flow has a request that is answered or can still be answered: the existing one, unless it ends within
 * 30 seconds, or a new one.
 *
 * @param about `username`: shown to the user
 */
export async function ensureLoginRequest(
  context: RequestContext<Process>,
  { flowId, userId, username }: LoginRequest & { username: string },
): Promise<LoginRequestResult> {
  const { runtime, tenant } = context;
  const known = await latestRequest(context, { flowId, userId });
  if (known && isReusable(known, context)) return { ok: true, shown: await shown(context, known), jobs: [] };
  // Per source, so that an attacker who knows the password cannot exhaust the owner's limit.
  const { ip, source, userAgent } = context.client;
  const rate = await runtime.rates.consume(tenant.id, "authenticator_request", `${userId}/${source}`);
  if (!rate.ok) return { ok: false, reason: "rate_limited", retryAfterSeconds: rate.retryAfterSeconds };
  const devices = await devicesOf(runtime.database.read, tenant, userId);
  const wanted = {
    operation: "AUTH" as const,
    userId,
    username: [...username].slice(0, 128).join(""),
    clientData: { remoteAddress: ip, userAgent },
    flowId,
  };
  const { request, write, jobs } = await prepareRequest(context, wanted, devices);
  if (request.status !== "PENDING") return { ok: false, reason: "no_authenticator" };
  // Push notifications are limited over all sources; the QR code can be scanned regardless.
  const pushRate = await runtime.rates.consume(tenant.id, "authenticator_request", `${userId}/sign-in`);
  return { ok: true, shown: await shown(context, request), write, jobs: pushRate.ok ? jobs : [] };
}

/**
 * Returns the status of the flow's latest request. `expired` if there is none, its answer is older than ten minutes, or
 * the answering device was deregistered.
 */
export async function loginRequestStatus(
  context: RequestContext<Process>,
  about: LoginRequest,
): Promise<"pending" | "ok" | "failed" | "expired"> {
  const known = await latestRequest(context, about);
  if (!known || !isStillValid(known, context.now)) return "expired";
  const statuses = { PENDING: "pending", OK: "ok", FAILED: "failed", INVALIDATED: "expired" } as const;
  return statuses[known.status];
}

/**
 * Consumes the answer, so that it is used once.
 *
 * @param status the expected status
 * @returns a write that throws ConflictError("authenticator_request") if the request does not exist or was consumed
 */
export function consumeLoginRequest(
  { id: tenantId }: Pick<Tenant, "id">,
  { flowId, userId }: LoginRequest,
  status: "OK" | "FAILED" = "OK",
): Write {
  return writeOf({
    name: "request_used",
    text: usedText,
    values: [tenantId, flowId, userId, status],
    refuses: "case when not exists (select 1 from request_used) then 'authenticator_request' end",
  });
}

const usedText = `request_used as (
  update authenticator_requests set flow_id = null
  where tenant_id = $1 and flow_id = $2 and user_id = $3 and operation = 'AUTH' and status = $4
  returning id)`;

async function latestRequest(
  { runtime, tenant, now }: RequestContext<Process>,
  { flowId, userId }: LoginRequest,
): Promise<AuthenticatorRequest | null> {
  const [found] = await runtime.database.read
    .select({ row: authenticatorRequests, keyName: authenticatorDevices.keyName })
    .from(authenticatorRequests)
    .leftJoin(authenticatorDevices, isDeviceOfRequest)
    .where(
      and(
        eq(authenticatorRequests.tenantId, tenant.id),
        eq(authenticatorRequests.flowId, flowId),
        eq(authenticatorRequests.userId, userId),
        eq(authenticatorRequests.operation, "AUTH"),
      ),
    )
    .orderBy(desc(authenticatorRequests.createdAt))
    .limit(1);
  return found ? requestFromRow(found.row, now, found.keyName) : null;
}

/** Whether an answer may still be used: a confirmation for ten minutes, and while its device is registered. */
function isStillValid({ status, device, createdAt }: AuthenticatorRequest, now: Date): boolean {
  return (
    status !== "OK" ||
    (device !== null && now.getTime() - createdAt.getTime() <= MAX_ANSWER_AGE_SECONDS * 1000)
  );
}

function isReusable(
  request: AuthenticatorRequest,
  { now, tenant: { config } }: Pick<RequestContext<unknown>, "now" | "tenant">,
): boolean {
  const { status, challenge, validUntil } = request;
  if (status === "OK") return isStillValid(request, now);
  // A pending request without a challenge is being verified, which counts as answered.
  if (status !== "PENDING" || challenge === null) return status === "PENDING";
  const least = Math.min(MIN_REMAINING_SECONDS, config.authenticator.request_ttl / 2);
  return validUntil.getTime() - now.getTime() >= least * 1000;
}

async function shown(
  { runtime, tenant }: TenantContext<Process>,
  { id, sealedDeviceToken, validUntil }: AuthenticatorRequest,
): Promise<LoginRequestPayload> {
  const content = sealedDeviceToken
    ? qrCodeContent(tenant.config, id, openDeviceToken(runtime, { tenant, id }, sealedDeviceToken))
    : null;
  return {
    request_id: id,
    qr_image_source: content === null ? "" : await qrCodeDataUrl(content),
    events_href: eventsPath(id, viewToken(runtime, "view", { tenant, id })),
    valid_until: validUntil.toISOString(),
  };
}

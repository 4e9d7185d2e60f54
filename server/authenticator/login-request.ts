import { and, desc, eq } from "drizzle-orm";
import { schema } from "#db/client";
import { ConflictError } from "#db/errors";
import type { Write } from "#db/write";
import { qrCodeDataUrl } from "../lib/qr-code.ts";
import type { Job, RequestContext } from "../runtime.ts";
import type { Tenant } from "../tenants/tenant.ts";
import { prepareRequest } from "./create-request.ts";
import { eventsPath, qrCodeContent } from "./request-addresses.ts";
import { openDeviceToken, showingToken } from "./request-tokens.ts";
import { type AuthenticatorRequest, asOf, isItsDevice } from "./requests.ts";

/** The phone as second factor of a sign-in: requests of a flow, for the account whose id their user has. */

const { authenticatorDevices, authenticatorRequests } = schema;

/** The least time that a person should have left to answer what they are shown, where there is so much at all. */
const leastSeconds = 30;

/** From a request to the step that uses its answer (NIST SP 800-63B-4, 3.1.3.2). */
const mostSeconds = 600;

export interface LoginRequest {
  flowId: string;
  /** Id of the account, which the device is registered for. */
  userId: string;
}

/** What the page needs to show. */
export interface ShownLoginRequest {
  request_id: string;
  /** The QR code, a PNG as a data URL (RFC 2397); empty once the request was answered. */
  qr_image_source: string;
  /** Where the page learns that the phone has answered: server-sent events, or long polling. Below the base address. */
  events_href: string;
  /** ISO 8601 */
  valid_until: string;
}

export type EnsuredLoginRequest =
  /** With `write`, the request is a new one: it makes it known, and `jobs`, which commit with it, have phones told. */
  | { ok: true; shown: ShownLoginRequest; write?: Write; jobs: Job[] }
  /** The user has no device (any more). */
  | { ok: false; reason: "no_authenticator" }
  /** Too many requests were made for this user from this source. */
  | { ok: false; reason: "rate_limited"; retryAfterSeconds: number };

/**
 * Sees to it that the flow has a request that the user can still answer, or has answered: the one there is, unless it
 * ends in less than 30 seconds, or a new one.
 *
 * @param about `username`: how the person is known to themselves
 */
export async function ensureLoginRequest(
  context: RequestContext,
  { flowId, userId, username }: LoginRequest & { username: string },
): Promise<EnsuredLoginRequest> {
  const { runtime, tenant } = context;
  const known = await latestOf(context, { flowId, userId });
  if (known && isGood(known, context)) return { ok: true, shown: await shown(context, known), jobs: [] };
  // By source, so that nobody elsewhere who knows the password uses up what its owner may ask for.
  const { ip, source, userAgent } = context.client;
  const rate = await runtime.rates.consume("authenticator_request", `${tenant.id}/${userId}/${source}`);
  if (!rate.ok) return { ok: false, reason: "rate_limited", retryAfterSeconds: rate.retryAfterSeconds };
  const { request, write, jobs } = await prepareRequest(context, {
    operation: "AUTH",
    userId,
    username: [...username].slice(0, 128).join(""),
    clientData: { remoteAddress: ip, userAgent },
    flowId,
  });
  if (request.status !== "PENDING") return { ok: false, reason: "no_authenticator" };
  // Whoever it is that asks, a phone rings only so often; the code can be scanned all the same.
  const ring = await runtime.rates.consume("authenticator_request", `${tenant.id}/${userId}/sign-in`);
  return { ok: true, shown: await shown(context, request), write, jobs: ring.ok ? jobs : [] };
}

/**
 * What became of the flow's latest request; `expired` where there is none, and where its answer counts no more: after
 * ten minutes, and once the device that gave it was deregistered.
 */
export async function loginRequestStatus(
  context: RequestContext,
  about: LoginRequest,
): Promise<"pending" | "ok" | "failed" | "expired"> {
  const known = await latestOf(context, about);
  if (!known || !counts(known, context.now)) return "expired";
  const statuses = { PENDING: "pending", OK: "ok", FAILED: "failed", INVALIDATED: "expired" } as const;
  return statuses[known.status];
}

/**
 * Uses the answer up, so that it counts once.
 *
 * @param status what it has to be: right, or wrong
 * @returns a write that throws TakenError("authenticator_request") when there is none (any more)
 */
export function takeLoginRequest(
  { id: tenantId }: Pick<Tenant, "id">,
  { flowId, userId }: LoginRequest,
  status: "OK" | "FAILED" = "OK",
): Write {
  return async (tx) => {
    const taken = await tx
      .update(authenticatorRequests)
      .set({ flowId: null })
      .where(and(isOf(tenantId, { flowId, userId }), eq(authenticatorRequests.status, status)))
      .returning({ id: authenticatorRequests.id });
    if (taken.length === 0) throw new ConflictError("authenticator_request");
  };
}

async function latestOf(
  { runtime, tenant, now }: RequestContext,
  about: LoginRequest,
): Promise<AuthenticatorRequest | null> {
  const [found] = await runtime.database.read
    .select({ row: authenticatorRequests, keyName: authenticatorDevices.keyName })
    .from(authenticatorRequests)
    .leftJoin(authenticatorDevices, isItsDevice)
    .where(isOf(tenant.id, about))
    .orderBy(desc(authenticatorRequests.createdAt))
    .limit(1);
  return found ? asOf(found.row, now, found.keyName) : null;
}

function isOf(tenantId: string, { flowId, userId }: LoginRequest) {
  return and(
    eq(authenticatorRequests.tenantId, tenantId),
    eq(authenticatorRequests.flowId, flowId),
    eq(authenticatorRequests.userId, userId),
    eq(authenticatorRequests.operation, "AUTH"),
  );
}

/** Whether what was answered still counts: a confirmation does for a while, and as long as its device is registered. */
function counts({ status, device, createdAt }: AuthenticatorRequest, now: Date): boolean {
  return status !== "OK" || (device !== null && now.getTime() - createdAt.getTime() <= mostSeconds * 1000);
}

function isGood(
  request: AuthenticatorRequest,
  { now, tenant: { config } }: Pick<RequestContext, "now" | "tenant">,
): boolean {
  const { status, challenge, validUntil } = request;
  if (status === "OK") return counts(request, now);
  // One whose answer is being judged is as good as answered.
  if (status !== "PENDING" || challenge === null) return status === "PENDING";
  const least = Math.min(leastSeconds, config.authenticator.request_ttl / 2);
  return validUntil.getTime() - now.getTime() >= least * 1000;
}

async function shown(
  { runtime, tenant }: Pick<RequestContext, "runtime" | "tenant">,
  { id, sealedDeviceToken, validUntil }: AuthenticatorRequest,
): Promise<ShownLoginRequest> {
  const content = sealedDeviceToken
    ? qrCodeContent(tenant.config, id, openDeviceToken(runtime, { tenant, id }, sealedDeviceToken))
    : null;
  return {
    request_id: id,
    qr_image_source: content === null ? "" : await qrCodeDataUrl(content),
    events_href: eventsPath(id, showingToken(runtime, "view", { tenant, id })),
    valid_until: validUntil.toISOString(),
  };
}

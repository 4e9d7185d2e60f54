import type { Transaction } from "#db/client";
import { audit } from "../audit/audit.ts";
import { commitWithJobs } from "../jobs/commit-with-jobs.ts";
import type { ClientContext } from "../runtime.ts";
import { applicationOf } from "./application.ts";
import { devicesOf, insertDevice, isRegistered, newDevice, recordUse, sortInLockOrder } from "./devices.ts";
import { type RequestError, requestErrors } from "./request-errors.ts";
import type { AnswerInput } from "./request-input.ts";
import {
  type AuthenticatorRequest,
  consumeChallenge,
  endRequest,
  findRequest,
  isBeingVerified,
} from "./requests.ts";
import { revokeTrustedDevices } from "./second-factor.ts";
import { authenticatorNotice } from "./security-notice.ts";
import {
  authenticationResponse,
  readMessage,
  registrationResponse,
  type UafResponse,
} from "./uaf/messages.ts";
import { rejectUaf, type UafRejection } from "./uaf/rejections.ts";
import { type VerifiedAssertion, verifyUafAuthentication } from "./uaf/verify-authentication.ts";
import { type VerifiedRegistration, verifyUafRegistrationResponse } from "./uaf/verify-registration.ts";

/** The result of a valid response. */
type Proof = { registrations: VerifiedRegistration[] } | { assertions: VerifiedAssertion[] };

/** The request ended while its response was verified. */
class RequestEndedError extends Error {}

/** The device was changed after the response was verified. */
class RejectedError extends Error {
  readonly error: RequestError | UafRejection;
  constructor(error: RequestError | UafRejection) {
    super("message" in error ? error.message : error.reason);
    this.error = error;
  }
}

/**
 * Verifies the response of an authenticator and stores the result. The first response consumes the challenge, so
 * concurrent and later responses change nothing. If the process ends before it stores the result, the request expires.
 *
 * @param request its current row
 * @returns the request after the verification; or what is wrong if the input is not a UAF response: the challenge is not
 *   consumed then, and the client may send another response
 */
export async function answerRequest(
  context: ClientContext,
  request: AuthenticatorRequest,
  answer: AnswerInput,
): Promise<{ ok: true; request: AuthenticatorRequest } | { ok: false; details: string }> {
  if (request.status !== "PENDING" || request.challenge === null) return { ok: true, request };
  const form = request.operation === "REG" ? registrationResponse : authenticationResponse;
  const read = readMessage<UafResponse>(answer.uafResponse, form);
  if (!read.ok) return read;
  if (await consumeChallenge(context, request)) {
    const verified = await verify(context, request, request.challenge, answer.uafResponse);
    await applyVerdict(context, request, answer, verified);
  }
  const { runtime, tenant } = context;
  const found = await findRequest(runtime, tenant, request.id);
  return { ok: true, request: found?.request ?? request };
}

async function verify(
  { runtime, tenant, now }: ClientContext,
  request: AuthenticatorRequest,
  challenge: string,
  uafResponse: string,
): Promise<{ ok: true; proof: Proof } | UafRejection> {
  const { appId, facets, accepted, channelBinding } = applicationOf(tenant.config);
  const { strict } = tenant.config.authenticator;
  const expected = { appId, challenge, facets, accepted, channelBinding, strict };
  if (request.operation === "REG") {
    const disallowed = await devicesOf(runtime.database.read, tenant, request.userId);
    const verified = verifyUafRegistrationResponse(uafResponse, { ...expected, disallowed, now });
    return verified.ok ? { ok: true, proof: { registrations: verified.registrations } } : verified;
  }
  const { userId, deviceIds, transaction, createdAt } = request;
  const devices = await devicesOf(runtime.database.read, tenant, userId, deviceIds);
  // Devices that were registered after the request were not asked.
  const keys = devices.filter((device) => device.createdAt <= createdAt);
  const verified = verifyUafAuthentication(uafResponse, { ...expected, transaction, keys });
  return verified.ok ? { ok: true, proof: { assertions: verified.assertions } } : verified;
}

async function applyVerdict(
  context: ClientContext,
  request: AuthenticatorRequest,
  answer: AnswerInput,
  verified: { ok: true; proof: Proof } | UafRejection,
): Promise<void> {
  try {
    if (verified.ok) await succeed(context, request, answer, verified.proof);
    else await fail(context, request, verified);
  } catch (error) {
    if (error instanceof RejectedError) await fail(context, request, error.error).catch(unlessRequestEnded);
    else unlessRequestEnded(error);
  }
}

function unlessRequestEnded(error: unknown): void {
  if (!(error instanceof RequestEndedError)) throw error;
}

async function succeed(
  context: ClientContext,
  request: AuthenticatorRequest,
  answer: AnswerInput,
  proof: Proof,
): Promise<void> {
  const { runtime, now } = context;
  const notices =
    "registrations" in proof ? await authenticatorNotice(context, "mfa_create", request.userId) : [];
  await commitWithJobs(runtime, notices, async (tx) => {
    const deviceId =
      "registrations" in proof
        ? await register(tx, context, request, answer, proof.registrations)
        : await authenticate(tx, context, request, proof.assertions);
    await end(tx, context, request, { status: "OK", error: null, deviceId, answeredAt: now });
    const details = { request_id: request.id, operation: request.operation, device_id: deviceId };
    await audit(context, "authenticator_request_succeeded", details, accountOf(request))(tx);
  });
}

async function fail(
  context: ClientContext,
  request: AuthenticatorRequest,
  cause: RequestError | UafRejection,
): Promise<void> {
  const { runtime, now } = context;
  const error = "ok" in cause ? { code: cause.code, reason: cause.message } : cause;
  await runtime.database.write.transaction(async (tx) => {
    await end(tx, context, request, { status: "FAILED", error, answeredAt: now });
    const fault = "ok" in cause ? { fault: cause.reason } : {};
    const details = { request_id: request.id, operation: request.operation, code: error.code, ...fault };
    await audit(context, "authenticator_request_failed", details, accountOf(request))(tx);
  });
}

async function end(
  tx: Transaction,
  context: ClientContext,
  { id }: AuthenticatorRequest,
  outcome: Parameters<typeof endRequest>[2],
): Promise<void> {
  if (!(await endRequest(tx, isBeingVerified(context, id), outcome))) throw new RequestEndedError();
}

async function register(
  tx: Transaction,
  context: ClientContext,
  request: AuthenticatorRequest,
  { deviceKeyInfo }: AnswerInput,
  registrations: readonly VerifiedRegistration[],
): Promise<string> {
  const { runtime, tenant, now } = context;
  const models = applicationOf(tenant.config).accepted;
  const registered: string[] = [];
  await revokeTrustedDevices(tx, tenant, request.userId);
  for (const key of sortInLockOrder(registrations)) {
    const device = newDevice(runtime, key, {
      tenantId: tenant.id,
      userId: request.userId,
      info: deviceKeyInfo,
      fallbackName: models.find(({ aaid }) => aaid === key.aaid)?.name ?? "Authenticator",
      isSecondFactorOnly: request.isSecondFactorOnly ?? false,
      now,
    });
    if (!(await insertDevice(tx, device))) continue;
    registered.push(device.id);
    const details = { request_id: request.id, device_id: device.id, aaid: device.aaid };
    await audit(context, "authenticator_registered", details, accountOf(request))(tx);
  }
  const [first] = registered;
  if (first === undefined) throw new RejectedError(requestErrors.key_taken);
  return first;
}

async function authenticate(
  tx: Transaction,
  { tenant, now }: ClientContext,
  { userId }: AuthenticatorRequest,
  assertions: readonly VerifiedAssertion[],
): Promise<string> {
  const owner = { tenantId: tenant.id, userId };
  const used: string[] = [];
  for (const assertion of sortInLockOrder(assertions)) {
    const id = await recordUse(tx, owner, assertion, now);
    if (id !== null) used.push(id);
  }
  const [first] = used;
  if (first !== undefined) return first;
  const [key] = assertions;
  const isStillRegistered = key !== undefined && (await isRegistered(tx, owner, key));
  throw new RejectedError(isStillRegistered ? rejectUaf("sign_counter") : requestErrors.key_unregistered);
}

/** The account for the audit log, which does not record the user ids of applications. */
const accountOf = ({ flowId, userId }: AuthenticatorRequest): string | null =>
  flowId === null ? null : userId;

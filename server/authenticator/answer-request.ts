import type { Transaction } from "#db/client";
import { ConflictError } from "#db/errors";
import { executeParts, type Part } from "#db/part";
import { runTogether } from "#db/together";
import type { Write } from "#db/write";
import { audit } from "../audit/audit.ts";
import type { ClientContext } from "../context/context.ts";
import { type RequestError, requestErrors } from "../failures/authenticator-requests.ts";
import { rejectUaf, type UafRejection } from "../failures/uaf.ts";
import { commitWithJobs } from "../jobs/commit-with-jobs.ts";
import { applicationOf } from "./application.ts";
import { type Device, devicesOf, insertDevice, keysUsed, newDevice, sortInLockOrder } from "./devices.ts";
import type { Process } from "./process.ts";
import type { AnswerInput } from "./request-input.ts";
import {
  type EndedRequest,
  endedRequest,
  endOfRequest,
  hasRequestEnded,
  takeChallenge,
} from "./request-writes.ts";
import { type AuthenticatorRequest, findRequest, requestFromRow } from "./requests.ts";
import { accountNamedBy, revokeTrustedDevices } from "./second-factor.ts";
import { authenticatorNotice } from "./security-notice.ts";
import {
  authenticationResponse,
  readMessage,
  registrationResponse,
  type UafResponse,
} from "./uaf/messages.ts";
import { isSameKey } from "./uaf/policy.ts";
import { type VerifiedAssertion, verifyUafAuthentication } from "./uaf/verify-authentication.ts";
import { type VerifiedRegistration, verifyUafRegistrationResponse } from "./uaf/verify-registration.ts";

/** The keys of a registration were registered by another request. */
class KeyTakenError extends Error {}

/**
 * Verifies the response of an authenticator and stores the result. The first response consumes the challenge, so
 * concurrent and later responses change nothing. If the process ends before it stores the result, the request expires.
 *
 * @param request its current row
 * @returns the request after the verification; or what is wrong if the input is not a UAF response: the challenge is not
 *   consumed then, and the client may send another response
 */
export async function answerRequest(
  context: ClientContext<Process>,
  request: AuthenticatorRequest,
  answer: AnswerInput,
): Promise<{ ok: true; request: AuthenticatorRequest } | { ok: false; details: string }> {
  if (request.status !== "PENDING" || request.challenge === null) return { ok: true, request };
  const form = request.operation === "REG" ? registrationResponse : authenticationResponse;
  const read = readMessage<UafResponse>(answer.uafResponse, form);
  if (!read.ok) return read;
  const devices = await takeChallenge(context, request);
  const ended = devices && (await endByVerdict(context, { request, devices }, answer));
  return { ok: true, request: ended ?? (await currentRequest(context, request)) };
}

/** A request whose challenge was consumed for a response, and the user's devices at that time. */
interface Answered {
  request: AuthenticatorRequest;
  devices: Device[];
}

/** The request as it is now: it has ended, or another response to it is being verified. */
async function currentRequest(
  { runtime, tenant }: ClientContext<Process>,
  request: AuthenticatorRequest,
): Promise<AuthenticatorRequest> {
  const found = await findRequest(runtime, tenant, request.id);
  return found?.request ?? request;
}

/** Verifies the response and ends the request; null if it ended meanwhile. */
async function endByVerdict(
  context: ClientContext<Process>,
  answered: Answered,
  answer: AnswerInput,
): Promise<AuthenticatorRequest | null> {
  const { tenant, now } = context;
  const { request, devices } = answered;
  const { operation, deviceIds, transaction, createdAt } = request;
  const { strict } = tenant.config.authenticator;
  const expected = { ...applicationOf(tenant.config), challenge: request.challenge ?? "", strict };
  try {
    if (operation === "REG") {
      const verified = verifyUafRegistrationResponse(answer.uafResponse, {
        ...expected,
        disallowed: devices,
        now,
      });
      return await (verified.ok
        ? register(context, answered, answer, verified.registrations)
        : fail(context, answered, verified));
    }
    // Devices that were registered after the request were not asked.
    const keys = devices.filter(
      (device) => device.createdAt <= createdAt && (deviceIds === null || deviceIds.includes(device.id)),
    );
    const verified = verifyUafAuthentication(answer.uafResponse, { ...expected, transaction, keys });
    return await (verified.ok
      ? authenticate(context, answered, verified.assertions)
      : fail(context, answered, verified));
  } catch (error) {
    if (!hasRequestEnded(error)) throw error;
    return null;
  }
}

async function authenticate(
  context: ClientContext<Process>,
  answered: Answered,
  assertions: readonly VerifiedAssertion[],
): Promise<AuthenticatorRequest> {
  const { runtime, tenant, now } = context;
  const owner = { tenantId: tenant.id, userId: answered.request.userId };
  const used = sortInLockOrder(assertions);
  const [first] = used;
  const device = first && answered.devices.find((one) => isSameKey(one, first));
  if (!first || !device) throw new Error("an assertion was accepted that no device has made");
  try {
    const { ending, entry } = success(context, answered, device);
    return await endWith(context, [keysUsed(owner, used, now), ending], entry, device);
  } catch (error) {
    // The device was changed after the response was verified.
    if (!(error instanceof ConflictError) || error.reason !== "authenticator_key") throw error;
    const current = await devicesOf(runtime.database.read, tenant, owner.userId);
    const isStillRegistered = current.some((one) => isSameKey(one, first));
    const cause = isStillRegistered ? rejectUaf("sign_counter") : "key_unregistered";
    return fail(context, answered, cause);
  }
}

async function register(
  context: ClientContext<Process>,
  answered: Answered,
  answer: AnswerInput,
  registrations: readonly VerifiedRegistration[],
): Promise<AuthenticatorRequest> {
  const { runtime, now } = context;
  const notices = await authenticatorNotice(context, "mfa_create", answered.request.userId);
  try {
    return await commitWithJobs(
      runtime,
      notices,
      { ...context, userId: accountNamedBy(answered.request.userId) },
      async (tx) => {
        const device = await insertDevices(tx, context, answered, answer, registrations);
        const { ending, entry } = success(context, answered, device);
        const ended = await executeParts<EndedRequest>(tx, [ending]);
        await entry(tx);
        return shown(ended, now, device);
      },
    );
  } catch (error) {
    if (!(error instanceof KeyTakenError)) throw error;
    return fail(context, answered, "key_taken");
  }
}

/** The end of a request that the response of a device has fulfilled, and its audit entry. */
function success(
  context: ClientContext<Process>,
  { request: { id, operation, flowId, userId } }: Answered,
  device: Device,
): { ending: Part; entry: Write } {
  const outcome = { status: "OK", error: null, deviceId: device.id, answeredAt: context.now };
  const details = { request_id: id, operation, device_id: device.id };
  return {
    ending: endOfRequest(context, id, outcome, "verified"),
    entry: audit(context, "authenticator_request_succeeded", details, accountOf({ flowId, userId })),
  };
}

function fail(
  context: ClientContext<Process>,
  { request: { id, operation, flowId, userId } }: Answered,
  cause: "key_taken" | "key_unregistered" | UafRejection,
): Promise<AuthenticatorRequest> {
  const error: RequestError =
    typeof cause === "string" ? requestErrors[cause] : { code: cause.code, reason: cause.message };
  const outcome = { status: "FAILED", error, deviceId: null, answeredAt: context.now };
  const why = typeof cause === "string" ? { reason: cause } : { reason: cause.reason, fault: cause.reason };
  const details = { request_id: id, operation, code: error.code, ...why };
  const entry = audit(context, "authenticator_request_failed", details, accountOf({ flowId, userId }));
  return endWith(context, [endOfRequest(context, id, outcome, "verified")], entry, null);
}

/** Ends a request in one round trip. */
async function endWith(
  { runtime, now }: ClientContext<Process>,
  parts: readonly Part[],
  entry: Write,
  device: Device | null,
): Promise<AuthenticatorRequest> {
  const ended = await runTogether<EndedRequest>(runtime.database, [...parts, ...(entry.parts ?? [])]);
  entry.committed?.(ended);
  return shown(ended, now, device);
}

function shown(ended: Partial<EndedRequest>, now: Date, device: Device | null): AuthenticatorRequest {
  const row = endedRequest(ended);
  if (!row) throw new Error("the end of a request returned no row");
  return requestFromRow(row, now, device?.keyName ?? null);
}

async function insertDevices(
  tx: Transaction,
  context: ClientContext<Process>,
  { request }: Answered,
  { deviceKeyInfo }: AnswerInput,
  registrations: readonly VerifiedRegistration[],
): Promise<Device> {
  const { runtime, tenant, now } = context;
  const models = applicationOf(tenant.config).accepted;
  const registered: Device[] = [];
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
    registered.push(device);
    const details = { request_id: request.id, device_id: device.id, aaid: device.aaid };
    await audit(context, "authenticator_registered", details, accountOf(request))(tx);
  }
  const [first] = registered;
  if (!first) throw new KeyTakenError();
  return first;
}

/** The account for the audit log, which does not record the user ids of applications. */
const accountOf = ({ flowId, userId }: Pick<AuthenticatorRequest, "flowId" | "userId">): string | null =>
  flowId === null ? null : userId;

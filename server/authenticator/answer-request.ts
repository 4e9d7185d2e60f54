import type { Transaction } from "#db/client";
import { audit } from "../audit/audit.ts";
import { commitWithJobs } from "../jobs/commit-with-jobs.ts";
import type { ClientContext } from "../runtime.ts";
import { applicationOf } from "./application.ts";
import { devicesOf, insertDevice, inWriteOrder, isRegistered, newDevice, noteUse } from "./devices.ts";
import { type RequestError, requestErrors } from "./request-errors.ts";
import type { Answer } from "./request-input.ts";
import {
  type AuthenticatorRequest,
  endRequest,
  findRequest,
  isBeingJudged,
  takeChallenge,
} from "./requests.ts";
import { distrustBrowsers } from "./second-factor.ts";
import { phoneNotice } from "./security-notice.ts";
import { authenticationResponse, readMessage, registrationResponse } from "./uaf/messages.ts";
import { rejectUaf, type UafRefusal } from "./uaf/rejections.ts";
import { judgeAuthentication, type UafAssertion } from "./uaf/verify-authentication.ts";
import { judgeRegistration, type UafRegistration } from "./uaf/verify-registration.ts";

/** What an answer proves. */
type Proof = { registrations: UafRegistration[] } | { assertions: UafAssertion[] };

/** Thrown by a write that found the request over, although its answer was being judged. */
class Overtaken extends Error {}

/** Thrown by a write that found what the proof is about changed since it was judged. */
class Refused extends Error {
  readonly error: RequestError;
  constructor(error: RequestError) {
    super(error.reason);
    this.error = error;
  }
}

/**
 * Judges the phone's answer. The first one decides: it takes the challenge, so that of two at once one is judged, and
 * a second one changes nothing. A process that dies between taking and writing leaves a request that runs out.
 *
 * @param request as it was just found
 * @returns `malformed`: it is no UAF response at all, nothing was judged, and another may be sent; otherwise the
 *   request as it stands now
 */
export async function answerRequest(
  acting: ClientContext,
  request: AuthenticatorRequest,
  answer: Answer,
): Promise<AuthenticatorRequest | "malformed"> {
  if (request.status !== "PENDING" || request.challenge === null) return request;
  const form = request.operation === "REG" ? registrationResponse : authenticationResponse;
  if (!readMessage(answer.uafResponse, form)) return "malformed";
  if (await takeChallenge(acting, request)) {
    const judged = await judge(acting, request, request.challenge, answer.uafResponse);
    await conclude(acting, request, answer, judged);
  }
  const { runtime, tenant } = acting;
  return (await findRequest(runtime, tenant, request.id))?.request ?? request;
}

async function judge(
  { runtime, tenant, now }: ClientContext,
  request: AuthenticatorRequest,
  challenge: string,
  uafResponse: string,
): Promise<Proof | { refusal: UafRefusal }> {
  const { appId, facets, accepted } = applicationOf(tenant.config);
  const { strict } = tenant.config.authenticator;
  const expected = { appId, challenge, facets, accepted, strict };
  if (request.operation === "REG") {
    const judged = judgeRegistration(uafResponse, { ...expected, now });
    return judged.ok ? { registrations: judged.registrations } : { refusal: judged };
  }
  const { userId, deviceIds, transaction, createdAt } = request;
  const devices = await devicesOf(runtime.database.read, tenant, userId, deviceIds);
  // What was registered since was not asked.
  const keys = devices.filter((device) => device.createdAt <= createdAt);
  const judged = judgeAuthentication(uafResponse, { ...expected, transaction, keys });
  return judged.ok ? { assertions: judged.assertions } : { refusal: judged };
}

async function conclude(
  acting: ClientContext,
  request: AuthenticatorRequest,
  answer: Answer,
  judged: Proof | { refusal: UafRefusal },
): Promise<void> {
  try {
    if ("refusal" in judged) await fail(acting, request, judged.refusal);
    else await succeed(acting, request, answer, judged);
  } catch (error) {
    if (error instanceof Refused) await fail(acting, request, error.error).catch(unlessOvertaken);
    else unlessOvertaken(error);
  }
}

function unlessOvertaken(error: unknown): void {
  if (!(error instanceof Overtaken)) throw error;
}

async function succeed(
  acting: ClientContext,
  request: AuthenticatorRequest,
  answer: Answer,
  proof: Proof,
): Promise<void> {
  const { runtime, now } = acting;
  const notices = "registrations" in proof ? await phoneNotice(acting, "mfa_create", request.userId) : [];
  await commitWithJobs(runtime, notices, async (tx) => {
    const deviceId =
      "registrations" in proof
        ? await register(tx, acting, request, answer, proof.registrations)
        : await authenticate(tx, acting, request, proof.assertions);
    await end(tx, acting, request, { status: "OK", error: null, deviceId, answeredAt: now });
    const details = { request_id: request.id, operation: request.operation, device_id: deviceId };
    await audit(acting, "authenticator_request_succeeded", details, accountOf(request))(tx);
  });
}

async function fail(
  acting: ClientContext,
  request: AuthenticatorRequest,
  { code, reason, ...more }: RequestError | UafRefusal,
): Promise<void> {
  const { runtime, now } = acting;
  await runtime.database.write.transaction(async (tx) => {
    await end(tx, acting, request, { status: "FAILED", error: { code, reason }, answeredAt: now });
    const fault = "fault" in more ? { fault: more.fault } : {};
    const details = { request_id: request.id, operation: request.operation, code, ...fault };
    await audit(acting, "authenticator_request_failed", details, accountOf(request))(tx);
  });
}

async function end(
  tx: Transaction,
  acting: ClientContext,
  { id }: AuthenticatorRequest,
  outcome: Parameters<typeof endRequest>[2],
): Promise<void> {
  if (!(await endRequest(tx, isBeingJudged(acting, id), outcome))) throw new Overtaken();
}

async function register(
  tx: Transaction,
  acting: ClientContext,
  request: AuthenticatorRequest,
  { deviceKeyInfo }: Answer,
  registrations: readonly UafRegistration[],
): Promise<string> {
  const { runtime, tenant, now } = acting;
  const models = applicationOf(tenant.config).accepted;
  const registered: string[] = [];
  await distrustBrowsers(tx, tenant, request.userId);
  for (const key of inWriteOrder(registrations)) {
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
    await audit(acting, "authenticator_registered", details, accountOf(request))(tx);
  }
  const [first] = registered;
  if (first === undefined) throw new Refused(requestErrors.key_taken);
  return first;
}

async function authenticate(
  tx: Transaction,
  { tenant, now }: ClientContext,
  { userId }: AuthenticatorRequest,
  assertions: readonly UafAssertion[],
): Promise<string> {
  const owner = { tenantId: tenant.id, userId };
  const used: string[] = [];
  for (const assertion of inWriteOrder(assertions)) {
    const id = await noteUse(tx, owner, assertion, now);
    if (id !== null) used.push(id);
  }
  const [first] = used;
  if (first !== undefined) return first;
  const [key] = assertions;
  const still = key !== undefined && (await isRegistered(tx, owner, key));
  throw new Refused(still ? rejectUaf("sign_counter") : requestErrors.key_gone);
}

/** An account of ours; applications call their users whatever they like, which no line of the log repeats. */
const accountOf = ({ flowId, userId }: AuthenticatorRequest): string | null =>
  flowId === null ? null : userId;

import { setTimeout } from "node:timers/promises";
import type { Database } from "#db/client";
import type { Tenant } from "../config/tenant.ts";
import type { Client } from "../context/client.ts";
import { sha256 } from "../lib/sha256.ts";
import type { PasscodeMail } from "../mail/messages.ts";
import type { Session } from "../objects/session.ts";
import type { RequestContext, Runtime } from "../runtime.ts";
import { markAccount } from "../sessions/account-marks.ts";
import { issueAuthorizationCode, revokeAuthorizationCode } from "../sessions/authorization-codes.ts";
import { carrierOf, reissueSession } from "../sessions/sessions.ts";
import { type Answer, errorAnswer, expired, notPermitted } from "./answer.ts";
import { answerToFailedClaim, answerToUnreadable, releaseClaim } from "./claims.ts";
import { factsOf } from "./facts.ts";
import { enter } from "./judge.ts";
import { type FlowType, isOfSession } from "./names.ts";
import { retryPayload } from "./outcome.ts";
import { nextResumeSecret } from "./resume.ts";
import { type Sealed, seal } from "./sealed-payload.ts";
import { showError } from "./show.ts";
import { states } from "./states/index.ts";
import { admit } from "./step-limits.ts";
import { claimFlow, type FlowKey, readFlow, rotateSecrets, type StoredFlow } from "./store.ts";
import { answerOf, belongsTo, openSealed, ownerOf, requestContextOf } from "./stored-flow.ts";
import { newToken } from "./tokens.ts";
import type { FlowState } from "./wire.ts";
import { write } from "./write.ts";

/** Time limit for `current` to wait for a step in progress; after it, `current` takes the flow over. */
const RESUME_TIMEOUT_MS = 3_000;
const RESUME_POLL_INTERVAL_MS = 50;

/** Attempts of `current` to replace the secrets of a flow. Each that fails was overtaken by another request. */
const MAX_ROTATIONS = 5;

/** Time after `success` in which the resume secret obtains the session again. */
const REISSUE_WINDOW_MS = 60_000;

/**
 * Shows the current state without performing an action, after a lost answer; authorised by the resume secret of the
 * newest answer or of the one before it. Issues a new token and the current resume secret. At `success` it issues the
 * same session again, for a minute.
 */
export async function current(
  runtime: Runtime,
  tenant: Tenant,
  client: Client,
  call: { type: FlowType; flowId: string; resume: string; session?: Session },
): Promise<Answer> {
  if (isOfSession(call.type) && !call.session) return errorAnswer(showError("unauthorized"));
  // It writes as a step does; a page that is reloaded shows the state without it.
  const rate = await runtime.rates.consumeShared("page", client.source);
  if (!rate.ok)
    return errorAnswer(showError("rate_limit_exceeded", { payload: retryPayload(rate.retryAfterSeconds) }));
  try {
    for (let attempt = 1; attempt <= MAX_ROTATIONS; attempt++) {
      const answer = await currentOnce(runtime, tenant, client, call);
      if (answer !== "overtaken") return answer;
    }
  } catch (error) {
    return answerToUnreadable(runtime, error);
  }
  return notPermitted();
}

/** @returns `overtaken` if a concurrent request has replaced the current resume secret; then nothing was done */
async function currentOnce(
  runtime: Runtime,
  tenant: Tenant,
  client: Client,
  call: Parameters<typeof current>[3],
): Promise<Answer | "overtaken"> {
  const { database, platform } = runtime;
  const key: FlowKey = { tenantId: tenant.id, flowId: call.flowId, type: call.type };
  const presented = sha256(call.resume);
  const flow = await readUnclaimed(database, key, presented, platform.clockShift());
  if (!flow || !belongsTo(flow, call.session)) return notPermitted();
  if (flow.expiresAt < flow.now) return expired();
  if (flow.finishedAt && !canReissue(flow)) return notPermitted();
  const { device } = openSealed(runtime, key, flow);
  const abandoned = abandonUnseen(runtime, key, flow, presented, device);
  const request = requestContextOf(runtime, tenant, client, flow, call.session);
  const token = newToken(platform);
  const resume = nextResumeSecret(runtime, key, presented, flow.resume.current);
  const issued = { tokenHash: sha256(token), resumeHash: sha256(resume), ...abandoned };
  const secrets = { presented, current: flow.resume.current };
  if (!(await admit(runtime, () => rotateSecrets(database, key, secrets, issued)))) return "overtaken";
  if (flow.finishedAt) return reissue(request, flow, device, resume);
  if (states[flow.record.state].renews !== "never")
    return renew(runtime, tenant, client, key, { token, resume }, call.session);
  const owner = await ownerOf(runtime, tenant, flow, call.session);
  return { ...(await answerOf(runtime, tenant, flow, token, owner)), resume };
}

/**
 * Abandons the action that waits for reauthentication, if the answer to it has not reached this browser: a thief with a
 * copy of its cookies may have asked for it, and the owner's proof would perform it.
 *
 * @returns what to store sealed instead; nothing if the action stays
 */
function abandonUnseen(
  runtime: Runtime,
  key: FlowKey,
  { record, resume }: StoredFlow,
  presented: Buffer,
  device: Sealed["device"],
): { sealedPayload?: Buffer | null } {
  if (record.wanted === null || presented.equals(resume.current)) return {};
  record.wanted = null;
  return { sealedPayload: seal(runtime, key, { secrets: record.secrets, ...(device ? { device } : {}) }) };
}

/** A flow as it is, read without stepping it. */
export interface Peeked {
  state: FlowState;
  version: number;
  /** The purpose and mailbox of the code that the state waits for. */
  awaitedCode?: { purpose: PasscodeMail; recipient?: string | undefined };
}

/**
 * Returns the current state for rendering a page; `success` only while `current` issues its session again. Reads only,
 * and returns no token.
 */
export async function peek(
  runtime: Runtime,
  tenant: Tenant,
  request: { type: FlowType; flowId: string; resume: string; session?: Session },
): Promise<Peeked | null> {
  const key: FlowKey = { tenantId: tenant.id, flowId: request.flowId, type: request.type };
  const clockShift = runtime.platform.clockShift();
  const flow = await readFlow(runtime.database, key, sha256(request.resume), clockShift).catch(
    (error: unknown) => {
      answerToUnreadable(runtime, error);
      return null;
    },
  );
  if (!flow || flow.expiresAt < flow.now || (flow.finishedAt && !canReissue(flow))) return null;
  if (!belongsTo(flow, request.session)) return null;
  openSealed(runtime, key, flow);
  const owner = await ownerOf(runtime, tenant, flow, request.session);
  const { state, version } = await answerOf(runtime, tenant, flow, "", owner);
  const { passcode } = flow.record.data;
  const waits = state.name === "passcode_confirmation" && passcode !== undefined;
  return { state, version, ...(waits ? { awaitedCode: passcode } : {}) };
}

/** Enters the current state again, to renew its payload. */
async function renew(
  runtime: Runtime,
  tenant: Tenant,
  client: Client,
  key: FlowKey,
  { token, resume }: { token: string; resume: string },
  session: Session | undefined,
): Promise<Answer> {
  const { database, platform } = runtime;
  const claim = { id: platform.uuid(), tokenHash: sha256(token), instanceId: runtime.instanceId };
  const flow = await claimFlow(database, key, claim, platform.clockShift(), null);
  if (!flow) return (await answerToFailedClaim(runtime, key)).answer;
  let written: Answer | null = null;
  try {
    openSealed(runtime, key, flow);
    const request = requestContextOf(runtime, tenant, client, flow, session);
    const owner = await ownerOf(runtime, tenant, flow, session);
    const entered = await enter(request, flow.record, factsOf(key.type, flow.record.data, flow.user), {
      owner,
    });
    const previous = flow.error?.entering ? null : flow.error;
    const judged = { ...entered, error: entered.error ?? previous };
    written = await write(request, key, flow, judged, { claim, owner, resume });
    return written ?? notPermitted();
  } finally {
    if (!written) await releaseClaim(runtime, key, claim.id);
  }
}

async function reissue(
  request: RequestContext,
  flow: StoredFlow,
  device: Sealed["device"],
  resume: string,
): Promise<Answer> {
  const { sessionId } = flow;
  // An answer that issued no session holds nothing to issue again.
  if (!sessionId && (isOfSession(flow.record.type) || flow.record.state !== "success"))
    return { ...(await answerOf(request.runtime, request.tenant, flow, "")), resume };
  if (!sessionId) return notPermitted();
  const { codeChallenge } = flow.record.data;
  if (codeChallenge !== undefined)
    return reissueCode(request, flow, { device, resume, sessionId, codeChallenge });
  const session = await reissueSession(request, sessionId, {
    rememberMe: flow.record.data.rememberMe ?? false,
    carrier: carrierOf(request.tenant),
  });
  if (!session) return notPermitted();
  const cookieChanges = cookiesAgain(request, flow, device);
  return { ...(await answerOf(request.runtime, request.tenant, flow, "")), resume, session, cookieChanges };
}

/** Replaces the authorization code of a lost answer. One that was redeemed is not replaced: a sign-in yields one. */
async function reissueCode(
  request: RequestContext,
  flow: StoredFlow,
  {
    device,
    resume,
    sessionId,
    codeChallenge,
  }: { device: Sealed["device"]; resume: string; sessionId: string; codeChallenge: string },
): Promise<Answer> {
  const { runtime, tenant } = request;
  if (!(await revokeAuthorizationCode(runtime, tenant, sessionId))) return notPermitted();
  const code = await issueAuthorizationCode(runtime, tenant, { sessionId, codeChallenge });
  if (code === null) return notPermitted();
  const { state, ...answer } = await answerOf(runtime, tenant, flow, "");
  const payload = { ...state.payload, authorization_code: code };
  const cookieChanges = cookiesAgain(request, flow, device);
  return { ...answer, state: { ...state, payload }, resume, cookieChanges };
}

/** The cookies that a lost answer of `success` carried beside the session. */
function cookiesAgain(
  request: RequestContext,
  { record: { data } }: StoredFlow,
  device: Sealed["device"],
): NonNullable<Answer["cookieChanges"]> {
  return {
    ...(device ? { device } : {}),
    ...(data.userId ? { mark: markAccount(request, data.userId, null) } : {}),
  };
}

/**
 * Reads a flow after its step in progress has ended, so that reloading a page does not abort the step. Waits at most
 * `RESUME_TIMEOUT_MS`, because the server that performs the step may have stopped.
 */
async function readUnclaimed(
  database: Database,
  key: FlowKey,
  resumeHash: Buffer,
  clockShift: number,
): Promise<StoredFlow | null> {
  for (let waited = 0; ; waited += RESUME_POLL_INTERVAL_MS) {
    const flow = await readFlow(database, key, resumeHash, clockShift);
    if (!flow?.claimed || waited >= RESUME_TIMEOUT_MS) return flow;
    await setTimeout(RESUME_POLL_INTERVAL_MS);
  }
}

function canReissue({ finishedAt, now }: StoredFlow): boolean {
  return finishedAt !== null && now.getTime() - finishedAt.getTime() <= REISSUE_WINDOW_MS;
}

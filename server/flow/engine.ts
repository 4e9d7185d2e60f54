import { setTimeout } from "node:timers/promises";
import type { Database } from "#db/client";
import { accountOf } from "../account/account.ts";
import type { Client } from "../client.ts";
import { markAccount } from "../credentials/account-marks.ts";
import { OverloadedError } from "../lib/overloaded-error.ts";
import { randomToken } from "../lib/random-token.ts";
import { sha256 } from "../lib/sha256.ts";
import type { TurnLimits } from "../limits/turns.ts";
import type { RequestContext, Runtime } from "../runtime.ts";
import type { Session } from "../sessions/session.ts";
import { reissueSession } from "../sessions/sessions.ts";
import type { Tenant } from "../tenants/tenant.ts";
import type { Answer } from "./answer.ts";
import { type FlowRecord, flowData, type WantedAction } from "./data.ts";
import { factsOf } from "./facts.ts";
import { enter, judge, postpone } from "./judge.ts";
import { type FlowType, stateNames } from "./names.ts";
import { retryPayload } from "./outcome.ts";
import { plan } from "./plan.ts";
import { nextResumeSecret } from "./resume.ts";
import { type Sealed, seal, unseal } from "./sealed-payload.ts";
import { show, showError } from "./show.ts";
import { states } from "./states/index.ts";
import { stepCosts } from "./step-costs.ts";
import {
  claimFailureReason,
  claimFlow,
  type FlowKey,
  insertFlow,
  readFlow,
  releaseFlow,
  rotateSecrets,
  type StepCharge,
  type StoredFlow,
} from "./store.ts";
import { newToken } from "./tokens.ts";
import { type Owner, viewOf } from "./view.ts";
import type { FlowState } from "./wire.ts";
import { write } from "./write.ts";

/** Time limit for `current` to wait for a step in progress; after it, `current` takes the flow over. */
const RESUME_TIMEOUT_MS = 3_000;
const RESUME_POLL_INTERVAL_MS = 50;

/** Attempts of `current` to replace the secrets of a flow. Each that fails was overtaken by another request. */
const MAX_ROTATIONS = 5;

/** Time limit of a step until it is judged; shorter than the lifetime of its claim. */
const JUDGE_TIMEOUT_MS = 8_000;

/** Time after `success` in which the resume secret obtains the session again. */
const REISSUE_WINDOW_MS = 60_000;

/**
 * Starts a flow.
 *
 * @param session session of the request; a profile flow requires it and belongs to its user
 */
export async function start(
  runtime: Runtime,
  tenant: Tenant,
  client: Client,
  type: FlowType,
  session?: Session,
): Promise<Answer> {
  if (type === "profile" && !session) return errorAnswer(showError("unauthorized"));
  if (type === "token_exchange" && !tenant.config.saml.enabled) return errorAnswer(showError("forbidden"));
  const { platform, database } = runtime;
  const rate = await runtime.rates.consume(tenant.id, "flow_start", client.source);
  if (!rate.ok)
    return errorAnswer(showError("rate_limit_exceeded", { payload: retryPayload(rate.retryAfterSeconds) }));

  const key: FlowKey = { tenantId: tenant.id, flowId: platform.uuid(), type };
  const token = newToken(platform);
  const resume = randomToken(platform);
  const record = firstRecord(tenant, type, key.flowId, session);
  const view = viewOf(record, factsOf(type, record.data, null), tenant.config);
  await admit(runtime, () =>
    insertFlow(
      database,
      key,
      {
        record,
        tokenHash: sha256(token),
        resumeHash: sha256(resume),
        lifetimeSeconds: tenant.config.flow.lifetime,
      },
      platform.clockShift(),
    ),
  );
  return {
    state: show(record, view, states[record.state], null, token),
    version: record.version,
    flowId: record.id,
    resume,
  };
}

/** Builds the first state of a flow from the declarations, for display; nothing is written and the token is empty. */
export function firstState(tenant: Tenant, type: FlowType): FlowState {
  const record = firstRecord(tenant, type, "");
  return show(
    record,
    viewOf(record, factsOf(type, record.data, null), tenant.config),
    states[record.state],
    null,
    "",
  );
}

/** A call to perform an action. */
interface StepCall {
  type: FlowType;
  flowId: string;
  action: string;
  token: string;
  /** Reject unless the flow still has this version. */
  version?: number;
  input: Record<string, unknown>;
  session?: Session;
}

/**
 * Performs one action. If it completes a reauthentication, the action that required it is performed too.
 *
 * @returns a state of the flow with a new token; or state `error`, with the flow unchanged
 * @throws unexpected errors; the flow is unchanged
 */
export async function step(
  runtime: Runtime,
  tenant: Tenant,
  client: Client,
  call: StepCall,
): Promise<Answer> {
  const performed = await perform(runtime, tenant, client, call);
  return performed.proceedsWith
    ? proceed(runtime, tenant, client, call, { ...performed, ...performed.proceedsWith })
    : performed.answer;
}

/** What a step was answered, and the action that it lets the user perform now, with the session that it issued. */
interface Performed {
  answer: Answer;
  proceedsWith?: { wanted: WantedAction; session: Session };
}

/** One step: claim, judge, write. */
async function perform(runtime: Runtime, tenant: Tenant, client: Client, call: StepCall): Promise<Performed> {
  const { database, platform } = runtime;
  if (call.type === "profile" && !call.session) return { answer: errorAnswer(showError("unauthorized")) };
  const key: FlowKey = { tenantId: tenant.id, flowId: call.flowId, type: call.type };
  const claim = { id: platform.uuid(), tokenHash: sha256(call.token), instanceId: runtime.instanceId };
  const charge = chargeOf(tenant, client, call.action);
  const signal = AbortSignal.timeout(JUDGE_TIMEOUT_MS);
  const flow = await admit(runtime, () => claimFlow(database, key, claim, platform.clockShift(), charge));
  if (!flow) return { answer: await claimFailed(runtime, key) };
  let written: Answer | null = null;
  let endTurn: (() => void) | null = null;
  try {
    if (call.version !== undefined && call.version !== flow.record.version) return rejected();
    if (!belongsTo(flow, call.session)) return rejected();
    const request = { ...requestContextOf(runtime, tenant, client, flow, call.session), signal };
    open(runtime, key, flow);
    endTurn = flow.exhaustedUntil ? null : await takeTurns(runtime, turnsOf(request, flow));
    const owner = await ownerOf(runtime, tenant, flow, call.session);
    const judged = endTurn
      ? await judge(request, flow, call.action, call.input, owner)
      : postpone(flow, call.action, secondsUntil(flow));
    if (!judged) return rejected();
    written = await write(request, key, claim, flow, judged, { owner });
    if (!written) return rejected();
    const { proceedsWith: wanted, replacement: session } = judged;
    const proceeds = wanted !== null && session !== undefined && written.session !== undefined;
    return { answer: written, ...(proceeds ? { proceedsWith: { wanted, session } } : {}) };
  } finally {
    endTurn?.();
    if (!written) await release(runtime, key, claim.id);
  }
}

/**
 * Performs the action that required reauthentication, as a step of its own with the new session: it is judged as if the
 * client had called it again. The reauthentication stands, whatever becomes of the action.
 */
async function proceed(
  runtime: Runtime,
  tenant: Tenant,
  client: Client,
  { type, flowId }: StepCall,
  { answer: reauthenticated, wanted, session }: { answer: Answer; wanted: WantedAction; session: Session },
): Promise<Answer> {
  const { action, input } = wanted;
  const call = { type, flowId, action, token: reauthenticated.state.csrf_token, input, session };
  const naming = (answer: Answer): Answer => {
    const { state } = answer;
    return { ...answer, state: { ...state, payload: { ...state.payload, performed_action: action } } };
  };
  let answer: Answer;
  try {
    ({ answer } = await perform(runtime, tenant, client, call));
  } catch (error) {
    return naming({ ...reauthenticated, failure: error });
  }
  // The account has changed, and the action is no longer offered.
  if (answer.flowId === null) return reauthenticated;
  const ended = answer.cookieChanges?.session === "ended";
  const issued = ended ? undefined : (answer.session ?? reauthenticated.session);
  const shown = { ...answer, ...(issued ? { session: issued } : {}) };
  // It requires reauthentication again: `session.step_up_after` is short, or a second factor was added concurrently.
  return answer.state.payload.wanted_action === undefined ? naming(shown) : shown;
}

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
  if (call.type === "profile" && !call.session) return errorAnswer(showError("unauthorized"));
  // It writes as a step does; a page that is reloaded shows the state without it.
  const rate = await runtime.rates.consumeShared("page", client.source);
  if (!rate.ok)
    return errorAnswer(showError("rate_limit_exceeded", { payload: retryPayload(rate.retryAfterSeconds) }));
  for (let attempt = 1; attempt <= MAX_ROTATIONS; attempt++) {
    const answer = await currentOnce(runtime, tenant, client, call);
    if (answer !== "overtaken") return answer;
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
  const { device } = open(runtime, key, flow);
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
  return { ...answerOf(tenant, flow, token, owner), resume };
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

/**
 * Returns the current state for rendering a page; `success` only while `current` issues its session again. Reads only,
 * and returns no token.
 */
export async function peek(
  runtime: Runtime,
  tenant: Tenant,
  request: { type: FlowType; flowId: string; resume: string; session?: Session },
): Promise<{ state: FlowState; version: number } | null> {
  const key: FlowKey = { tenantId: tenant.id, flowId: request.flowId, type: request.type };
  const flow = await readFlow(runtime.database, key, sha256(request.resume), runtime.platform.clockShift());
  if (!flow || flow.expiresAt < flow.now || (flow.finishedAt && !canReissue(flow))) return null;
  if (!belongsTo(flow, request.session)) return null;
  open(runtime, key, flow);
  const owner = await ownerOf(runtime, tenant, flow, request.session);
  const { state, version } = answerOf(tenant, flow, "", owner);
  return { state, version };
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
  if (!flow) return claimFailed(runtime, key);
  let written: Answer | null = null;
  try {
    open(runtime, key, flow);
    const request = requestContextOf(runtime, tenant, client, flow, session);
    const owner = await ownerOf(runtime, tenant, flow, session);
    const entered = await enter(request, flow.record, factsOf(key.type, flow.record.data, flow.user), owner);
    const previous = flow.error?.entering ? null : flow.error;
    const judged = { ...entered, error: entered.error ?? previous };
    written = await write(request, key, claim, flow, judged, { owner, resume });
    return written ?? notPermitted();
  } finally {
    if (!written) await release(runtime, key, claim.id);
  }
}

async function reissue(
  request: RequestContext,
  flow: StoredFlow,
  device: Sealed["device"],
  resume: string,
): Promise<Answer> {
  const { sessionId } = flow;
  if (!sessionId) return notPermitted();
  const session = await reissueSession(request, sessionId, {
    rememberMe: flow.record.data.rememberMe ?? false,
  });
  if (!session) return notPermitted();
  const { userId } = flow.record.data;
  const cookieChanges = {
    ...(device ? { device } : {}),
    ...(userId ? { mark: markAccount(request, userId) } : {}),
  };
  return { ...answerOf(request.tenant, flow, ""), resume, session, cookieChanges };
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

/** Decrypts the sealed members of a flow into its record. Returns what is not part of the record. */
function open(runtime: Runtime, key: FlowKey, flow: StoredFlow): Pick<Sealed, "device"> {
  const { secrets, wanted = null, ...rest } = unseal(runtime, key, flow.sealedPayload);
  Object.assign(flow.record, { secrets, wanted } satisfies Partial<FlowRecord>);
  return rest;
}

function canReissue({ finishedAt, now }: StoredFlow): boolean {
  return finishedAt !== null && now.getTime() - finishedAt.getTime() <= REISSUE_WINDOW_MS;
}

function answerOf(tenant: Tenant, flow: StoredFlow, token: string, owner: Owner | null = null): Answer {
  const { record, error } = flow;
  const view = viewOf(record, factsOf(record.type, record.data, flow.user), tenant.config, owner);
  return {
    state: show(record, view, states[record.state], error, token),
    version: record.version,
    flowId: record.id,
  };
}

/** Whether the session may use the flow: a profile flow belongs to its user, other flows to no user. */
function belongsTo({ record: { type, data } }: StoredFlow, session: Session | undefined): boolean {
  return type !== "profile" || (session !== undefined && session.userId === data.userId);
}

/** Reads the account and session of a profile flow; null for other flows. */
async function ownerOf(
  runtime: Runtime,
  tenant: Tenant,
  { record, now }: StoredFlow,
  session: Session | undefined,
): Promise<Owner | null> {
  if (record.type !== "profile" || !session) return null;
  return { account: await accountOf(runtime.database.read, tenant, session.userId, now), session, now };
}

/** Capabilities of a flow that an identity provider starts, without `preflight`. Current browsers support WebAuthn. */
const assumedCapabilities = { webauthn: true, conditionalMediation: false, platformAuthenticator: false };

function firstRecord(tenant: Tenant, type: FlowType, id: string, session?: Session) {
  const data = flowData.parse({
    ...(type === "profile" && session ? { userId: session.userId, sessionId: session.id } : {}),
    ...(type === "token_exchange" ? { capabilities: assumedCapabilities } : {}),
  });
  const facts = factsOf(type, data, null);
  const [state = stateNames[0]] = plan({ type, data, facts, config: tenant.config });
  return { id, type, state, version: 1, data, history: [], payload: {}, secrets: {}, wanted: null };
}

function requestContextOf(
  runtime: Runtime,
  tenant: Tenant,
  client: Client,
  flow: StoredFlow,
  session?: Session,
): RequestContext {
  const signal = AbortSignal.timeout(JUDGE_TIMEOUT_MS);
  return { runtime, tenant, client, now: flow.now, signal, ...(session ? { session } : {}) };
}

/**
 * Runs the first statement of a request. At most as many of them run at once as a pool has connections: the statements
 * of steps in progress would otherwise wait behind all new ones, and no step would end in time.
 *
 * @throws OverloadedError if the request has waited too long; nothing is changed
 */
async function admit<Result>(
  { admission, config }: Runtime,
  statement: () => Promise<Result>,
): Promise<Result> {
  const limits = { running: config.database.pool_size, waiting: Number.POSITIVE_INFINITY };
  const end = await admission.take("flow", limits);
  if (!end) throw new OverloadedError();
  try {
    return await statement();
  } finally {
    end();
  }
}

/** What a step is charged; null if limits are off. */
function chargeOf({ config }: Tenant, { source }: Client, action: string): StepCharge | null {
  const { enabled, steps_per_source, steps_per_account } = config.rate_limiter;
  if (!enabled) return null;
  return {
    source,
    costs: stepCosts(action),
    perSource: steps_per_source,
    perAccount: steps_per_account,
  };
}

/** Steps of one account that are judged at once, and that wait. */
const accountTurns: TurnLimits = { running: 2, waiting: 8 };

/** Steps of one source outside an account. One source may serve many people. */
const sourceTurns: TurnLimits = { running: 8, waiting: 64 };

/**
 * Whose turns a step takes, one after the other. An account's, if the client has a session of it; before that, one of
 * the account or the identifier at the source, so that the holder of a password or a stranger takes no turn of the owner,
 * and one of the source, so that its steps for many identifiers do not occupy the hasher. An unknown identifier has turns
 * too, so that they do not reveal whether it exists.
 */
function turnsOf({ tenant, client }: RequestContext, { record }: StoredFlow): [string, TurnLimits][] {
  const { type, data } = record;
  const { userId, identifier, factors } = data;
  const account = `${tenant.id}/account/${userId}`;
  if (type === "profile") return [[account, accountTurns]];
  const source: [string, TurnLimits] = [`${tenant.id}/source/${client.source}`, sourceTurns];
  if (userId && factors.length > 0) return [[`${account}/${client.source}`, accountTurns], source];
  return identifier
    ? [[`${tenant.id}/identifier/${identifier.value}/${client.source}`, accountTurns], source]
    : [source];
}

/** Takes the turns of a step; null if one of them is not granted. */
async function takeTurns({ turns }: Runtime, of: [string, TurnLimits][]): Promise<(() => void) | null> {
  const ends: (() => void)[] = [];
  const endAll = () => {
    for (const end of ends) end();
  };
  for (const [key, limits] of of) {
    const end = await turns.take(key, limits);
    if (end) ends.push(end);
    else {
      endAll();
      return null;
    }
  }
  return endAll;
}

/** Seconds until a step that was postponed may be repeated. */
function secondsUntil({ exhaustedUntil, now }: StoredFlow): number {
  return exhaustedUntil ? Math.max(1, Math.ceil((exhaustedUntil.getTime() - now.getTime()) / 1000)) : 1;
}

async function release(runtime: Runtime, key: FlowKey, claimId: string): Promise<void> {
  try {
    await releaseFlow(runtime.database, key, claimId);
  } catch (error) {
    // The claim expires by itself; do not hide the original error.
    runtime.log.warn({ err: error }, "A claim could not be released.");
  }
}

async function claimFailed(runtime: Runtime, key: FlowKey): Promise<Answer> {
  const reason = await claimFailureReason(runtime.database, key, runtime.platform.clockShift());
  return reason === "expired" ? expired() : notPermitted();
}

const notPermitted = () => errorAnswer(showError("operation_not_permitted_error"));
const rejected = (): Performed => ({ answer: notPermitted() });
const expired = () => errorAnswer(showError("flow_expired_error"));

function errorAnswer(state: FlowState): Answer {
  return { state, version: 0, flowId: null };
}

import { setTimeout } from "node:timers/promises";
import type { Database } from "#db/client";
import { accountOf } from "../account/account.ts";
import type { Client } from "../client.ts";
import { randomToken } from "../lib/random-token.ts";
import { sha256 } from "../lib/sha256.ts";
import type { RequestContext, Runtime } from "../runtime.ts";
import type { Session } from "../sessions/session.ts";
import { reissueSession } from "../sessions/sessions.ts";
import type { Tenant } from "../tenants/tenant.ts";
import type { Answer } from "./answer.ts";
import { flowData } from "./data.ts";
import { factsOf } from "./facts.ts";
import { enter, judge } from "./judge.ts";
import { type FlowType, stateNames } from "./names.ts";
import { retryPayload } from "./outcome.ts";
import { plan } from "./plan.ts";
import { openSecrets, type Sealed } from "./sealed-payload.ts";
import { show, showError } from "./show.ts";
import { states } from "./states/index.ts";
import {
  claimFlow,
  type FlowKey,
  insertFlow,
  readFlow,
  releaseFlow,
  rotateToken,
  type StoredFlow,
  whyNotClaimed,
} from "./store.ts";
import { newToken } from "./tokens.ts";
import { type Owner, viewOf } from "./view.ts";
import type { FlowState } from "./wire.ts";
import { write } from "./write.ts";

/** How long whoever looks again waits for a step that is being judged, before cutting it off; and how often it looks. */
const patience = { milliseconds: 3_000, interval: 50 };

/** How long a step may be judged: less than its claim holds. */
const judgeMilliseconds = 8_000;

/** After `success`, how long the session may be handed out again to whoever holds the resume secret. */
const handOutAgainMilliseconds = 60_000;

/**
 * Starts a flow.
 *
 * @param session the one that the request brought along; a profile flow needs it, and belongs to it
 */
export async function start(
  runtime: Runtime,
  tenant: Tenant,
  client: Client,
  type: FlowType,
  session?: Session,
): Promise<Answer> {
  if (type === "profile" && !session) return refusal(showError("unauthorized"));
  if (type === "token_exchange" && !tenant.config.saml.enabled) return refusal(showError("forbidden"));
  const { platform, database } = runtime;
  const rate = await runtime.rates.consume("flow_start", `${tenant.id}/${client.source}`);
  if (!rate.ok)
    return refusal(showError("rate_limit_exceeded", { payload: retryPayload(rate.retryAfterSeconds) }));

  const key: FlowKey = { tenantId: tenant.id, flowId: platform.uuid(), type };
  const token = newToken(platform);
  const resume = randomToken(platform);
  const record = firstRecord(tenant, type, key.flowId, session);
  const view = viewOf(record, factsOf(type, record.data, null), tenant.config);
  await insertFlow(
    database,
    key,
    {
      record,
      tokenHash: sha256(token),
      resumeHash: sha256(resume),
      lifetimeSeconds: tenant.config.flow.lifetime,
    },
    platform.clockShift(),
  );
  return {
    state: show(record, view, states[record.state], null, token),
    version: record.version,
    flowId: record.id,
    resume,
  };
}

/** The first state of a flow, drawn from the declarations; nothing is written and nothing can be called. */
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

/**
 * Performs one action: claim, judge, write.
 *
 * @param request `version`: refuse unless the flow still shows the state that the caller drew
 * @returns a state of the flow with a new token; or state `error`, and the flow as it was
 * @throws what nobody expected; the flow is as it was then too
 */
export async function step(
  runtime: Runtime,
  tenant: Tenant,
  client: Client,
  call: {
    type: FlowType;
    flowId: string;
    action: string;
    token: string;
    version?: number;
    input: Record<string, unknown>;
    session?: Session;
  },
): Promise<Answer> {
  const { database, platform } = runtime;
  if (call.type === "profile" && !call.session) return refusal(showError("unauthorized"));
  const key: FlowKey = { tenantId: tenant.id, flowId: call.flowId, type: call.type };
  const claim = { id: platform.uuid(), tokenHash: sha256(call.token), instanceId: runtime.instanceId };
  const flow = await claimFlow(database, key, claim, platform.clockShift());
  if (!flow) return notClaimed(runtime, key);
  let written: Answer | null = null;
  try {
    if (call.version !== undefined && call.version !== flow.record.version) return notPermitted();
    if (!isOwn(flow, call.session)) return notPermitted();
    const request = requestContextOf(runtime, tenant, client, flow, call.session);
    flow.record.secrets = openSecrets(runtime, key, flow.sealedPayload).secrets;
    const owner = await ownerOf(runtime, tenant, flow, call.session);
    const judged = await judge(request, flow, call.action, call.input, owner);
    if (!judged) return notPermitted();
    written = await write(request, key, claim, flow, judged, owner);
    return written ?? notPermitted();
  } finally {
    if (!written) await release(runtime, key, claim.id);
  }
}

/**
 * Shows the current state and performs nothing: for whoever lost an answer and holds the resume secret. The token
 * is new. At `success` the same session is handed out once more, for a minute.
 */
export async function current(
  runtime: Runtime,
  tenant: Tenant,
  client: Client,
  call: { type: FlowType; flowId: string; resume: string; session?: Session },
): Promise<Answer> {
  const { database, platform } = runtime;
  if (call.type === "profile" && !call.session) return refusal(showError("unauthorized"));
  const key: FlowKey = { tenantId: tenant.id, flowId: call.flowId, type: call.type };
  const resumeHash = sha256(call.resume);
  const flow = await readUnclaimed(database, key, resumeHash, platform.clockShift());
  if (!flow || !isOwn(flow, call.session)) return notPermitted();
  if (flow.expiresAt < flow.now) return expired();
  const { secrets, device } = openSecrets(runtime, key, flow.sealedPayload);
  flow.record.secrets = secrets;
  const request = requestContextOf(runtime, tenant, client, flow, call.session);
  if (flow.finishedAt) return handOutAgain(request, flow, device);

  const token = newToken(platform);
  if (!(await rotateToken(database, key, resumeHash, sha256(token)))) return notPermitted();
  if (states[flow.record.state].renews) return renew(runtime, tenant, client, key, token, call.session);
  return answerOf(tenant, flow, token, await ownerOf(runtime, tenant, flow, call.session));
}

/**
 * The current state for the render of a page, `success` for as long as `current` hands out its session. Reads only,
 * and tells no token.
 */
export async function peek(
  runtime: Runtime,
  tenant: Tenant,
  request: { type: FlowType; flowId: string; resume: string; session?: Session },
): Promise<{ state: FlowState; version: number } | null> {
  const key: FlowKey = { tenantId: tenant.id, flowId: request.flowId, type: request.type };
  const flow = await readFlow(runtime.database, key, sha256(request.resume), runtime.platform.clockShift());
  if (!flow || flow.expiresAt < flow.now || (flow.finishedAt && !canHandOutAgain(flow))) return null;
  if (!isOwn(flow, request.session)) return null;
  flow.record.secrets = openSecrets(runtime, key, flow.sealedPayload).secrets;
  const owner = await ownerOf(runtime, tenant, flow, request.session);
  const { state, version } = answerOf(tenant, flow, "", owner);
  return { state, version };
}

/** Enters the state once more, so that what it shows is fresh. */
async function renew(
  runtime: Runtime,
  tenant: Tenant,
  client: Client,
  key: FlowKey,
  token: string,
  session: Session | undefined,
): Promise<Answer> {
  const { database, platform } = runtime;
  const claim = { id: platform.uuid(), tokenHash: sha256(token), instanceId: runtime.instanceId };
  const flow = await claimFlow(database, key, claim, platform.clockShift());
  if (!flow) return notClaimed(runtime, key);
  let written: Answer | null = null;
  try {
    const request = requestContextOf(runtime, tenant, client, flow, session);
    const owner = await ownerOf(runtime, tenant, flow, session);
    const entered = await enter(request, flow.record, factsOf(key.type, flow.record.data, flow.user), owner);
    const refused = flow.problem?.entering ? null : flow.problem;
    const judged = { ...entered, problem: entered.problem ?? refused };
    written = await write(request, key, claim, flow, judged, owner);
    return written ?? notPermitted();
  } finally {
    if (!written) await release(runtime, key, claim.id);
  }
}

async function handOutAgain(
  request: RequestContext,
  flow: StoredFlow,
  device: Sealed["device"],
): Promise<Answer> {
  const { sessionId } = flow;
  if (!sessionId || !canHandOutAgain(flow)) return notPermitted();
  const session = await reissueSession(request, sessionId, {
    rememberMe: flow.record.data.rememberMe ?? false,
  });
  if (!session) return notPermitted();
  return { ...answerOf(request.tenant, flow, ""), session, ...(device ? { cookieChanges: { device } } : {}) };
}

/**
 * Reads a flow once nobody steps it any more. A second click would otherwise cut off what the first one began; a step
 * whose server died is not waited for longer than a person waits.
 */
async function readUnclaimed(
  database: Database,
  key: FlowKey,
  resumeHash: Buffer,
  clockShift: number,
): Promise<StoredFlow | null> {
  for (let waited = 0; ; waited += patience.interval) {
    const flow = await readFlow(database, key, resumeHash, clockShift);
    if (!flow?.claimed || waited >= patience.milliseconds) return flow;
    await setTimeout(patience.interval);
  }
}

function canHandOutAgain({ finishedAt, now }: StoredFlow): boolean {
  return finishedAt !== null && now.getTime() - finishedAt.getTime() <= handOutAgainMilliseconds;
}

function answerOf(tenant: Tenant, flow: StoredFlow, token: string, owner: Owner | null = null): Answer {
  const { record, problem } = flow;
  const view = viewOf(record, factsOf(record.type, record.data, flow.user), tenant.config, owner);
  return {
    state: show(record, view, states[record.state], problem, token),
    version: record.version,
    flowId: record.id,
  };
}

/** A profile flow is somebody's; every other one is nobody's yet. */
function isOwn({ record: { type, data } }: StoredFlow, session: Session | undefined): boolean {
  return type !== "profile" || (session !== undefined && session.userId === data.userId);
}

/** Reads the account that a profile flow manages. */
async function ownerOf(
  runtime: Runtime,
  tenant: Tenant,
  { record, now }: StoredFlow,
  session: Session | undefined,
): Promise<Owner | null> {
  if (record.type !== "profile" || !session) return null;
  return { account: await accountOf(runtime.database.read, tenant, session.userId, now), session, now };
}

/** Whoever comes straight from an identity provider has not said what their browser can; all can do WebAuthn. */
const assumedCapabilities = { webauthn: true, conditionalMediation: false, platformAuthenticator: false };

function firstRecord(tenant: Tenant, type: FlowType, id: string, session?: Session) {
  const data = flowData.parse({
    ...(type === "profile" && session ? { userId: session.userId, sessionId: session.id } : {}),
    ...(type === "token_exchange" ? { capabilities: assumedCapabilities } : {}),
  });
  const facts = factsOf(type, data, null);
  const [state = stateNames[0]] = plan({ type, data, facts, config: tenant.config });
  return { id, type, state, version: 1, data, history: [], payload: {}, secrets: {} };
}

function requestContextOf(
  runtime: Runtime,
  tenant: Tenant,
  client: Client,
  flow: StoredFlow,
  session?: Session,
): RequestContext {
  const signal = AbortSignal.timeout(judgeMilliseconds);
  return { runtime, tenant, client, now: flow.now, signal, ...(session ? { session } : {}) };
}

async function release(runtime: Runtime, key: FlowKey, claimId: string): Promise<void> {
  try {
    await releaseFlow(runtime.database, key, claimId);
  } catch (error) {
    // The claim runs out by itself; what led here matters more than this.
    runtime.log.warn({ err: error }, "a claim could not be given back");
  }
}

async function notClaimed(runtime: Runtime, key: FlowKey): Promise<Answer> {
  const reason = await whyNotClaimed(runtime.database, key, runtime.platform.clockShift());
  return reason === "expired" ? expired() : notPermitted();
}

const notPermitted = () => refusal(showError("operation_not_permitted_error"));
const expired = () => refusal(showError("flow_expired_error"));

function refusal(state: FlowState): Answer {
  return { state, version: 0, flowId: null };
}

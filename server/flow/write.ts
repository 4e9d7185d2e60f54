import { isDistributed } from "#db/distribution";
import { ConflictError, isConnectionLost, isRetryable } from "#db/errors";
import { executeParts, type Part } from "#db/part";
import { runTogether } from "#db/together";
import type { Write, WriteOfParts } from "#db/write";
import { accountOf } from "../account/account.ts";
import { type OwnerPayload, ownerPayloadOf, ownerPayloadOfJson } from "../account/profile.ts";
import { type AccountJson, accountPart } from "../account/stored-account.ts";
import { emitsEnded, mayHaveSubscriber, subscribedParts } from "../events/emit.ts";
import type { WrittenEvents } from "../events/write-records.ts";
import { factsById } from "../identity/facts.ts";
import { commitWithJobs } from "../jobs/commit-with-jobs.ts";
import type { JobCause } from "../jobs/job-cause.ts";
import { sha256 } from "../lib/sha256.ts";
import type { Session } from "../objects/session.ts";
import type { RequestContext } from "../runtime.ts";
import type { Answer } from "./answer.ts";
import { conflictName, conflictOf, isSubjectGone } from "./conflicts.ts";
import type { Judged } from "./judge.ts";
import { isOfSession } from "./names.ts";
import { type StepTrace, tracing } from "./performing.ts";
import { nextResumeSecret, resumeHashes } from "./resume.ts";
import { seal } from "./sealed-payload.ts";
import { conflictFlowType, judgeConflict, settled, shownAfter } from "./settled.ts";
import { show } from "./show.ts";
import { states } from "./states/index.ts";
import {
  type Claim,
  type FlowKey,
  insertedFlow,
  type SavedFlow,
  type StepFlow,
  savedFlow,
  savedUnclaimedFlow,
  type UnclaimedFlow,
  wasInserted,
  wasSaved,
} from "./store.ts";
import { newToken } from "./tokens.ts";
import type { Owner } from "./view.ts";

const MAX_ATTEMPTS = 3;

/** How a step is written. */
interface Writing {
  /** The claim of the flow, or what is saved without one; null if the flow is stored by this step, its first one. */
  claim: Claim | UnclaimedFlow | null;
  /** Of flows that belong to a user. */
  owner: Owner | null;
  /** The flow's current resume secret, if the request obtained it already; otherwise the step issues the next one. */
  resume?: string;
  /** Notes a conflict that the step meets. */
  trace?: StepTrace;
}

/**
 * Writes a judged step, and shows the result. Its first statement saves the flow only if the claim still holds, so that
 * only one of two servers that step the same flow writes. The writes of a sign-in are parts that take one round trip;
 * those of rarer steps take one short transaction.
 *
 * If a write conflicts with a concurrent change, the transaction is rolled back and the error that `conflicts.ts`
 * defines is written instead, under the same claim.
 *
 * @returns null if the claim was lost or the account was deleted; nothing was written
 */
export async function write(
  request: RequestContext,
  key: FlowKey,
  flow: StepFlow,
  judged: Judged,
  writing: Writing,
): Promise<Answer | null> {
  try {
    return await writeOnce(request, key, flow, judged, writing);
  } catch (error) {
    const name = conflictName(error);
    const conflict = conflictOf(name, conflictFlowType(flow.record));
    if (!conflict && isSubjectGone(error)) return null;
    if (!conflict) throw error;
    const { record } = flow;
    const { database } = request.runtime;
    const { owner, trace } = writing;
    // The account was changed concurrently: read it again.
    const { userId } = record.data;
    const user = userId ? await factsById(database.read, request.tenant.id, userId) : flow.user;
    if (owner)
      owner.account = await accountOf(
        database.read,
        request.tenant,
        owner.session.userId,
        request.now,
        request.runtime,
      );
    if (trace && name !== null) Object.assign(trace, { entered: [], conflict: { name, user } });
    const shownFlow = { ...flow, user };
    const performing = trace ? tracing(trace) : undefined;
    const rejected = await judgeConflict(request, record, conflict, {
      user,
      owner,
      ...(performing ? { performing } : {}),
    });
    return await writeOnce(request, key, shownFlow, rejected, writing).catch((failure: unknown) => {
      if (isSubjectGone(failure)) return null;
      throw failure;
    });
  }
}

async function writeOnce(
  request: RequestContext,
  key: FlowKey,
  flow: StepFlow,
  judged: Judged,
  { claim, owner, resume: issuedResume }: Writing,
): Promise<Answer> {
  const { runtime, tenant } = request;
  const token = newToken(runtime.platform);
  const { current } = flow.resume;
  const resume = issuedResume ?? nextResumeSecret(runtime, key, current, current);
  const { record, finishes } = settled(flow.record, judged, request.now);
  const { wanted } = record;
  const saved: SavedFlow = {
    record,
    before: flow.hasPresentFormat ? flow.record : null,
    sealedPayload: seal(runtime, key, {
      secrets: judged.secrets ?? {},
      ...(wanted ? { wanted } : {}),
      ...(judged.cookieChanges?.device ? { device: judged.cookieChanges.device } : {}),
    }),
    error: judged.error,
    tokenHash: sha256(token),
    resume: issuedResume ? flow.resume : resumeHashes(resume, current, judged.identifies),
    finishedAt: finishes ? request.now : null,
    sessionId: judged.session?.id ?? judged.passedSessionId ?? null,
  };

  const shownUser = states[record.state].showsUser ? (record.data.userId ?? null) : null;
  const writes = await partsOf(request, judged, owner);
  const hasWebhooks = flow.hasStoredWebhooks;
  const writing = { request, key, claim, saved, judged, owner, shownUser, hasWebhooks };
  const written = (writes && (await writeParts(writing, writes))) || (await writeInTransaction(writing));
  if (owner && judged.replacement) owner.session = judged.replacement;

  const { config } = tenant;
  const { facts, view, offer } = shownAfter(record, flow.user, { changed: judged.facts, config, owner });
  const state = show(record, view, states[record.state], judged.error, token, offer);
  if (!finishes && !isOfSession(record.type)) {
    const clockAhead = flow.clockAhead - runtime.platform.clockShift();
    const known = { ...record, payload: {}, secrets: {}, wanted: null };
    const resume = saved.sealedPayload ? null : saved.resume;
    runtime.rememberedFlows.remember(saved.tokenHash, key, { record: known, facts, clockAhead, resume });
  }
  return {
    state: { ...state, payload: { ...state.payload, ...written, ...judged.once } },
    version: record.version,
    flowId: record.id,
    resume,
    stored: {
      data: judged.record.data,
      notOffered: { actions: offer.withheld, states: judged.passedOver },
    },
    ...(judged.session ? { session: judged.session } : {}),
    ...(judged.cookieChanges ? { cookieChanges: judged.cookieChanges } : {}),
  };
}

/** A step that is being written. */
interface Step extends Pick<Writing, "owner" | "claim"> {
  request: RequestContext;
  key: FlowKey;
  saved: SavedFlow;
  judged: Judged;
  /** Whether the tenant had stored webhooks when the flow was claimed. */
  hasWebhooks: boolean;
  /** The account to show with the state, if it shows one. */
  shownUser: string | null;
}

interface Returned extends WrittenEvents {
  account: AccountJson | null;
}

/** Members of the payload that are read with the writes. */
type ReadPayload = Partial<OwnerPayload>;

/**
 * Returns the writes and jobs of a step as parts of statements; null if they need a transaction: because one of them has
 * no parts, or because the account is read and shown after them.
 */
async function partsOf(
  request: RequestContext,
  judged: Judged,
  owner: Owner | null,
): Promise<WriteOfParts[] | null> {
  const { writes, jobs } = judged;
  if (owner && writes.length > 0) return null;
  if (!writes.every(hasParts)) return null;
  const insertions: WriteOfParts[] = [];
  for (const job of jobs)
    insertions.push(await request.runtime.jobs.insertion(job, causeOf(request, judged)));
  return [...writes, ...insertions];
}

function hasParts(write: Write): write is WriteOfParts {
  return write.parts !== undefined;
}

/** What makes the jobs of a step. */
function causeOf({ client, now }: RequestContext, { record }: Judged): JobCause {
  return { client, now, flowId: record.id, userId: record.data.userId };
}

/**
 * Writes a step in one round trip. Returns null if it needs a transaction after all: a webhook was added since the flow
 * was claimed, or is to be told of other sessions that end. Then nothing was written.
 */
async function writeParts(step: Step, writes: WriteOfParts[]): Promise<ReadPayload | null> {
  const { request, judged, shownUser } = step;
  const { database, jobs } = request.runtime;
  const { tenant } = request;
  const own = writes.flatMap((write) => write.parts);
  const isTold = mayHaveSubscriber(tenant, step.hasWebhooks);
  // Events of ended sessions are made of rows that one statement of all nodes would have to read.
  if (isTold && own.some(emitsEnded) && (await isDistributed(database))) return null;
  const { parts, delivered } = isTold ? subscribedParts(own) : { parts: own, delivered: () => {} };
  const save = storedFlow(
    step,
    parts.some(({ ofAccount }) => ofAccount),
  );
  const read = shownUser === null ? [] : [accountPart(tenant.id, shownUser)];
  return committing(step, async () => {
    try {
      const returned = await runTogether<Returned>(database, [...save, ...parts, ...read]);
      delivered(returned);
      for (const { committed } of writes) committed?.(returned);
      if (judged.jobs.length > 0) jobs.wake(judged.jobs);
      return shownUser === null ? {} : ownerPayloadOfJson(returned.account ?? null, tenant);
    } catch (error) {
      if (error instanceof ConflictError && error.reason === "webhook") return null;
      // It may have been committed, so the workers look for its jobs.
      if (judged.jobs.length > 0 && isConnectionLost(error)) jobs.wake(judged.jobs);
      throw error;
    }
  });
}

async function writeInTransaction(step: Step): Promise<ReadPayload> {
  const { request, judged, owner, shownUser } = step;
  const { runtime, tenant, now } = request;
  return committing(step, () =>
    commitWithJobs(runtime, judged.jobs, causeOf(request, judged), async (tx) => {
      await executeParts(tx, storedFlow(step, true));
      for (const change of judged.writes) await change(tx);
      // The offered actions depend on the account after the writes.
      if (owner) owner.account = await accountOf(tx, tenant, owner.session.userId, now, runtime);
      return shownUser === null ? {} : ownerPayloadOf(tx, tenant, shownUser);
    }),
  );
}

/**
 * The parts that store the flow of a step: they save it, or insert it with its first step. What revokes the access to an
 * account deletes its flows, so that a step in progress finds no claim. A flow of an account that is not stored yet is
 * not found: its first step asks for the session, once it has locked the account.
 */
function storedFlow({ request, key, claim, saved, owner }: Step, locksAccount: boolean): Part[] {
  const { runtime, tenant } = request;
  if (claim?.id === null) return [savedUnclaimedFlow(key, claim, saved)];
  if (claim) return [savedFlow(key, claim, saved, locksAccount)];
  const lifetime = { seconds: tenant.config.flow.lifetime, clockShift: runtime.platform.clockShift() };
  return owner
    ? [insertedFlow(key, saved, lifetime, true), unendedSession(tenant.id, owner.session)]
    : [insertedFlow(key, saved, lifetime, locksAccount)];
}

const unendedSession = (tenantId: string, { id, userId }: Session): Part => ({
  name: "unended_session",
  text: "",
  values: [tenantId, id, userId],
  refuses: `case when not exists (select 1 from sessions where tenant_id = $1 and id = $2 and user_id = $3)
    then 'session' end`,
  begins: true,
});

/** Repeats a transaction that can be repeated, and finds out whether one was committed whose connection was lost. */
async function committing<Result extends ReadPayload | null>(
  { request, key, claim, saved, shownUser }: Step,
  commit: () => Promise<Result>,
): Promise<Result | ReadPayload> {
  const { runtime, tenant } = request;
  const { database } = runtime;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await commit();
    } catch (error) {
      if (attempt < MAX_ATTEMPTS && isRetryable(error)) continue;
      // The connection was lost after the commit was sent: check whether it succeeded. If that stays unknown, the loss
      // of the connection is the error.
      const found = () =>
        claim ? wasSaved(database, key, claim, saved.tokenHash) : wasInserted(database, key, saved);
      const settle = () => found().catch(() => false);
      if (isConnectionLost(error) && (await settle()))
        return shownUser === null ? {} : ownerPayloadOf(database.read, tenant, shownUser);
      throw error;
    }
  }
}

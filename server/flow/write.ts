import { isConnectionLost, isRetryable } from "#db/errors";
import { accountOf } from "../account/account.ts";
import { factsById } from "../identity/users.ts";
import { commitWithJobs } from "../jobs/commit-with-jobs.ts";
import { sha256 } from "../lib/sha256.ts";
import type { RequestContext } from "../runtime.ts";
import type { Answer } from "./answer.ts";
import { conflictOf, isSubjectGone } from "./conflicts.ts";
import type { FlowRecord } from "./data.ts";
import { factsOf, isPendingRegistration } from "./facts.ts";
import { enter, type Judged, renewsOnRequest, withoutPayload } from "./judge.ts";
import type { FlowType } from "./names.ts";
import { nextResumeSecret, resumeHashes } from "./resume.ts";
import { seal } from "./sealed-payload.ts";
import { show } from "./show.ts";
import { states } from "./states/index.ts";
import {
  type Claim,
  type FlowKey,
  hasToken,
  type SavedFlow,
  type StoredFlow,
  saveFlow,
  savePayload,
} from "./store.ts";
import { newToken } from "./tokens.ts";
import { type Owner, viewOf } from "./view.ts";

/** The claim was lost while the step was judged; rolls the transaction back. */
class ClaimLostError extends Error {}

const MAX_ATTEMPTS = 3;

/** How a step is written. */
interface Writing {
  /** Profile flows only. */
  owner: Owner | null;
  /** The flow's current resume secret, if the request obtained it already; otherwise the step issues the next one. */
  resume?: string;
}

/**
 * Writes a judged step in one short transaction, and shows the result. Its first statement saves the flow only if the
 * claim still holds, so that only one of two servers that step the same flow writes.
 *
 * If a write conflicts with a concurrent change, the transaction is rolled back and the error that `conflicts.ts`
 * defines is written instead, under the same claim.
 *
 * @returns null if the claim was lost or the account was deleted; nothing was written
 */
export async function write(
  request: RequestContext,
  key: FlowKey,
  claim: Claim,
  flow: StoredFlow,
  judged: Judged,
  writing: Writing,
): Promise<Answer | null> {
  try {
    return await writeOnce(request, key, claim, flow, judged, writing);
  } catch (error) {
    if (error instanceof ClaimLostError) return null;
    const conflict = conflictOf(error, conflictFlowType(flow.record));
    if (!conflict && isSubjectGone(error)) return null;
    if (!conflict) throw error;
    const { record } = flow;
    const { database } = request.runtime;
    const { owner } = writing;
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
    const state = conflict.state ?? record.state;
    const data = conflict.discard?.(record.data) ?? record.data;
    const shown = { ...record, data, state, history: state === record.state ? record.history : [] };
    const entered =
      state === record.state && renewsOnRequest(shown)
        ? withoutPayload(shown)
        : await enter(request, shown, factsOf(record.type, data, user), owner);
    return await writeOnce(
      request,
      key,
      claim,
      { ...flow, user },
      { ...entered, error: conflict.error },
      writing,
    );
  }
}

/** A registration that an identity provider completed has an account; its conflicts are those of a login. */
function conflictFlowType(record: FlowRecord): FlowType {
  return record.type === "profile" || isPendingRegistration(record) ? record.type : "login";
}

async function writeOnce(
  request: RequestContext,
  key: FlowKey,
  claim: Claim,
  flow: StoredFlow,
  judged: Judged,
  { owner, resume: issuedResume }: Writing,
): Promise<Answer | null> {
  const { runtime, tenant } = request;
  const { database } = runtime;
  const token = newToken(runtime.platform);
  const { current } = flow.resume;
  const resume = issuedResume ?? nextResumeSecret(runtime, key, current, current);
  const finishes = Object.keys(states[judged.record.state].actions).length === 0;
  // The pending data is written by this step; the flow keeps no copy.
  const data = finishes ? { ...judged.record.data, pending: {} } : judged.record.data;
  // Back on the account page, an action that was not performed has been abandoned.
  const wanted = judged.record.state === "profile_init" ? null : judged.record.wanted;
  const saved: SavedFlow = {
    record: {
      ...judged.record,
      data,
      version: flow.record.version + 1,
      payload: judged.payload ?? {},
      secrets: judged.secrets ?? {},
      wanted,
    },
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

  const fitsOneStatement = judged.jobs.length === 0 && !judged.completePayload;
  const [first, ...others] = judged.writes;
  const written =
    fitsOneStatement && (!first || (first.inlineInsert && others.length === 0))
      ? await saveFlow(database, key, claim, saved, first ? { inlineInsert: first.inlineInsert } : {})
      : await writeInTransaction(request, key, claim, saved, judged, owner);
  if (!written) return null;
  if (owner && judged.replacement) owner.session = judged.replacement;

  const { record } = saved;
  const facts = { ...factsOf(record.type, record.data, flow.user), ...judged.facts };
  const view = viewOf(record, facts, tenant.config, owner);
  const state = show(record, view, states[record.state], judged.error, token);
  return {
    state: { ...state, payload: { ...state.payload, ...judged.once } },
    version: record.version,
    flowId: record.id,
    resume,
    ...(judged.session ? { session: judged.session } : {}),
    ...(judged.cookieChanges ? { cookieChanges: judged.cookieChanges } : {}),
  };
}

async function writeInTransaction(
  request: RequestContext,
  key: FlowKey,
  claim: Claim,
  saved: SavedFlow,
  judged: Judged,
  owner: Owner | null,
): Promise<boolean> {
  const { database } = request.runtime;
  const { record } = saved;
  for (let attempt = 1; ; attempt += 1) {
    try {
      await commitWithJobs(request.runtime, judged.jobs, async (tx) => {
        if (!(await saveFlow(database, key, claim, saved, { tx }))) throw new ClaimLostError();
        for (const change of judged.writes) await change(tx);
        // The offered actions depend on the account after the writes.
        if (owner)
          owner.account = await accountOf(
            tx,
            request.tenant,
            owner.session.userId,
            request.now,
            request.runtime,
          );
        if (judged.completePayload) {
          record.payload = { ...record.payload, ...(await judged.completePayload(tx)) };
          await savePayload(tx, key, record.payload);
        }
      });
      return true;
    } catch (error) {
      if (attempt < MAX_ATTEMPTS && isRetryable(error)) continue;
      // The connection was lost after COMMIT was sent: check whether it succeeded.
      if (isConnectionLost(error) && (await hasToken(database, key, saved.tokenHash))) return true;
      throw error;
    }
  }
}

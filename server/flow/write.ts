import { isConnectionLost, isRetryable } from "#db/errors";
import { accountOf } from "../account/account.ts";
import { factsById } from "../identity/users.ts";
import { commitWithJobs } from "../jobs/commit-with-jobs.ts";
import { sha256 } from "../lib/sha256.ts";
import type { RequestContext } from "../runtime.ts";
import type { Answer } from "./answer.ts";
import { conflictOf, isGone } from "./conflicts.ts";
import type { FlowRecord } from "./data.ts";
import { factsOf, isPendingRegistration } from "./facts.ts";
import { enter, type Judged } from "./judge.ts";
import type { FlowType } from "./names.ts";
import { sealSecrets } from "./sealed-payload.ts";
import { show } from "./show.ts";
import { states } from "./states/index.ts";
import {
  answersTo,
  type Claim,
  type FlowKey,
  type SavedFlow,
  type StoredFlow,
  saveFlow,
  savePayload,
} from "./store.ts";
import { newToken } from "./tokens.ts";
import { type Owner, viewOf } from "./view.ts";

/** Somebody overtook the claim while it was judged; the transaction is rolled back. */
class Overtaken extends Error {}

const MAX_ATTEMPTS = 3;

/**
 * Writes what was judged, in one short transaction whose first statement is the fence, and shows the result.
 *
 * When a write meets what somebody else wrote meanwhile, everything is rolled back and the refusal that
 * `conflicts.ts` names for it is written instead, under the same claim.
 *
 * @returns null when the claim was overtaken: nothing was written
 */
export async function write(
  request: RequestContext,
  key: FlowKey,
  claim: Claim,
  flow: StoredFlow,
  judged: Judged,
  owner: Owner | null = null,
): Promise<Answer | null> {
  try {
    return await writeOnce(request, key, claim, flow, judged, owner);
  } catch (error) {
    if (error instanceof Overtaken) return null;
    const conflict = conflictOf(error, askedAs(flow.record));
    // What it was about is gone altogether: nothing can be shown for it.
    if (!conflict && isGone(error)) return null;
    if (!conflict) throw error;
    const { record } = flow;
    const { database } = request.runtime;
    // Somebody else wrote meanwhile: what was read of the account before is no longer so.
    const { userId } = record.data;
    const user = userId ? await factsById(database.read, request.tenant.id, userId) : flow.user;
    if (owner)
      owner.account = await accountOf(database.read, request.tenant, owner.session.userId, request.now);
    const stands = conflict.state ?? record.state;
    const data = conflict.forgets?.(record.data) ?? record.data;
    const shown = { ...record, data, state: stands, history: stands === record.state ? record.history : [] };
    const entered = await enter(request, shown, factsOf(record.type, data, user), owner);
    return await writeOnce(
      request,
      key,
      claim,
      { ...flow, user },
      { ...entered, problem: conflict.problem },
      owner,
    );
  }
}

/** Whoever has come by an identity provider has an account by now, and is asked what a login asks. */
function askedAs(record: FlowRecord): FlowType {
  return record.type === "profile" || isPendingRegistration(record) ? record.type : "login";
}

async function writeOnce(
  request: RequestContext,
  key: FlowKey,
  claim: Claim,
  flow: StoredFlow,
  judged: Judged,
  owner: Owner | null,
): Promise<Answer | null> {
  const { runtime, tenant } = request;
  const { database } = runtime;
  const token = newToken(runtime.platform);
  const finishes = Object.keys(states[judged.record.state].actions).length === 0;
  // What was gathered is written by now, and needs no copy.
  const data = finishes ? { ...judged.record.data, pending: {} } : judged.record.data;
  const saved: SavedFlow = {
    record: {
      ...judged.record,
      data,
      version: flow.record.version + 1,
      payload: judged.payload ?? {},
      secrets: judged.secrets ?? {},
    },
    sealedPayload: sealSecrets(runtime, key, {
      secrets: judged.secrets ?? {},
      ...(judged.cookieChanges?.device ? { device: judged.cookieChanges.device } : {}),
    }),
    problem: judged.problem,
    tokenHash: sha256(token),
    finishedAt: finishes ? request.now : null,
    sessionId: judged.session?.id ?? null,
  };

  const alone = judged.jobs.length === 0 && !judged.settle;
  const [first, ...others] = judged.writes;
  const written =
    alone && (!first || (first.inlineInsert && others.length === 0))
      ? await saveFlow(database, key, claim, saved, first ? { inlineInsert: first.inlineInsert } : {})
      : await writeTogether(request, key, claim, saved, judged, owner);
  if (!written) return null;

  const { record } = saved;
  const facts = { ...factsOf(record.type, record.data, flow.user), ...judged.facts };
  return {
    state: show(
      record,
      viewOf(record, facts, tenant.config, owner),
      states[record.state],
      judged.problem,
      token,
    ),
    version: record.version,
    flowId: record.id,
    ...(judged.session ? { session: judged.session } : {}),
    ...(judged.cookieChanges ? { cookieChanges: judged.cookieChanges } : {}),
  };
}

async function writeTogether(
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
        if (!(await saveFlow(database, key, claim, saved, { tx }))) throw new Overtaken();
        for (const change of judged.writes) await change(tx);
        // What the person may do next depends on what was just written.
        if (owner) owner.account = await accountOf(tx, request.tenant, owner.session.userId, request.now);
        if (judged.settle) {
          record.payload = { ...record.payload, ...(await judged.settle(tx)) };
          await savePayload(tx, key, record.payload);
        }
      });
      return true;
    } catch (error) {
      if (attempt < MAX_ATTEMPTS && isRetryable(error)) continue;
      // Cut off after COMMIT was sent, nobody has said whether it happened: look.
      if (isConnectionLost(error) && (await answersTo(database, key, saved.tokenHash))) return true;
      throw error;
    }
  }
}

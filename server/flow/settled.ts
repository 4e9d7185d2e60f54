import type { Config } from "../config/schema.ts";
import type { UserFacts } from "../identity/facts.ts";
import type { RequestContext } from "../runtime.ts";
import { afterConflict, type Conflict } from "./conflicts.ts";
import { dataAtEnd, type FlowRecord } from "./data.ts";
import type { View } from "./define.ts";
import { type Facts, factsOf, isPendingRegistration } from "./facts.ts";
import { enter, type Judged, renewsOnRequest, withoutPayload } from "./judge.ts";
import { type FlowType, isOfSession } from "./names.ts";
import type { Performing } from "./performing.ts";
import { type Offer, offerOf } from "./show.ts";
import { states } from "./states/index.ts";
import { type Owner, viewOf } from "./view.ts";

/** A flow as a judged step leaves it. */
export interface Settled {
  record: FlowRecord;
  /** The flow has ended: its state offers nothing. */
  finishes: boolean;
}

/** Returns a flow as it is stored after a judged step. Pure. */
export function settled(before: FlowRecord, judged: Judged, now: Date): Settled {
  const { record } = judged;
  const finishes = Object.keys(states[record.state].actions).length === 0;
  const enteredAt = record.state === before.state ? before.data.enteredAt : now.getTime();
  return {
    finishes,
    record: {
      ...record,
      data: finishes ? dataAtEnd(record.data) : { ...record.data, enteredAt },
      history: finishes ? [] : record.history,
      version: before.version + 1,
      payload: judged.payload ?? {},
      secrets: judged.secrets ?? {},
      // Back on the account page, an action that was not performed has been abandoned.
      wanted: record.state === "profile_init" ? null : record.wanted,
    },
  };
}

/** What a flow shows after a step. */
export interface Shown {
  facts: Facts;
  view: View;
  offer: Offer;
}

/**
 * Judges what a flow offers after a step. Pure.
 *
 * @param changed the facts that the writes of the step change
 */
export function shownAfter(
  record: FlowRecord,
  user: UserFacts | null,
  { changed, config, owner }: { changed: Partial<Facts>; config: Config; owner: Owner | null },
): Shown {
  const facts = { ...factsOf(record.type, record.data, user), ...changed };
  const view = viewOf(record, facts, config, owner);
  return { facts, view, offer: offerOf(states[record.state], view) };
}

/** The type of flow whose conflicts a record has. A registration that an identity provider completed has an account; its conflicts are those of a login. */
export function conflictFlowType(record: FlowRecord): FlowType {
  return isOfSession(record.type) || isPendingRegistration(record) ? record.type : "login";
}

/** Judges a step again that has met a conflict. */
export async function judgeConflict(
  request: RequestContext,
  before: FlowRecord,
  conflict: Conflict,
  { user, owner, performing }: { user: UserFacts | null; owner: Owner | null; performing?: Performing },
): Promise<Judged> {
  const record = afterConflict(before, conflict);
  const entered =
    record.state === before.state && renewsOnRequest(record)
      ? withoutPayload(record)
      : await enter(request, record, factsOf(record.type, record.data, user), {
          owner,
          ...(performing ? { performing } : {}),
        });
  return { ...entered, error: conflict.error };
}

import type { Account } from "../account/account.ts";
import type { Config } from "../config/schema.ts";
import type { Session } from "../sessions/session.ts";
import type { FlowRecord } from "./data.ts";
import type { View } from "./define.ts";
import type { Facts } from "./facts.ts";
import { hasSecondFactor, isProvedTwice } from "./second-factor.ts";

/** Of whose account a profile flow is, and by which session. */
export interface Owner {
  account: Account | null;
  session: Session;
  now: Date;
}

/** What guards and descriptors see of a flow. */
export function viewOf(record: FlowRecord, facts: Facts, config: Config, owner: Owner | null = null): View {
  const { type, state, history } = record;
  // The flow goes on with any session of its owner; the one that asks is the one in use.
  const data = owner ? { ...record.data, sessionId: owner.session.id } : record.data;
  return {
    type,
    state,
    data,
    facts,
    config,
    canGoBack: history.length > 0,
    account: owner?.account ?? null,
    fresh: owner !== null && isFresh(owner, facts, config),
  };
}

/**
 * Whether the person has shown who they are recently enough to change how they are let in: within
 * `session.step_up_after`, and with a second factor where the account has one. A trusted browser that saved the
 * second factor is no such proof (NIST SP 800-63B-4, 4.1.2.1).
 */
function isFresh({ session, now }: Owner, facts: Facts, config: Config): boolean {
  const { step_up_after } = config.session;
  if (step_up_after === 0) return true;
  if (now.getTime() - session.authenticatedAt.getTime() > step_up_after * 1000) return false;
  return !hasSecondFactor(facts, config) || isProvedTwice(session.factors);
}

import type { Account } from "../account/account.ts";
import type { Config } from "../config/schema.ts";
import { hasSecondFactor, isMultiFactor } from "../methods/second-factors.ts";
import type { Session } from "../objects/session.ts";
import type { FlowRecord } from "./data.ts";
import type { View } from "./define.ts";
import type { Facts } from "./facts.ts";
import type { ImpersonationPayload } from "./wire.ts";

/** Account and session of a profile flow. */
export interface Owner {
  account: Account | null;
  session: Session;
  now: Date;
}

/** Builds the view of a flow for guards and descriptors. */
export function viewOf(record: FlowRecord, facts: Facts, config: Config, owner: Owner | null = null): View {
  const { type, state, history } = record;
  // A flow continues with any session of its owner; the session of this request counts.
  const data = owner ? { ...record.data, sessionId: owner.session.id } : record.data;
  return {
    type,
    state,
    data,
    facts,
    config,
    previous: history.at(-1)?.state ?? null,
    account: owner?.account ?? null,
    fresh: owner !== null && isFresh(owner, facts, config),
    impersonation: owner && impersonationOf(owner.session),
  };
}

/**
 * Whether the session was authenticated recently enough to change credentials: within `session.step_up_after`, and with
 * a second factor if the account has one. A trusted device does not count as one (NIST SP 800-63B-4, 4.1.2.1).
 */
function isFresh({ session, now }: Owner, facts: Facts, config: Config): boolean {
  // An operator has proved nothing that the user could prove.
  if (session.impersonation) return false;
  const { step_up_after } = config.session;
  if (step_up_after === 0) return true;
  if (now.getTime() - session.authenticatedAt.getTime() > step_up_after * 1000) return false;
  return !hasSecondFactor(facts, config) || isMultiFactor(session.factors);
}

function impersonationOf({ impersonation, expiresAt }: Session): ImpersonationPayload | null {
  if (!impersonation) return null;
  const { name, reason } = impersonation;
  return { name, until: expiresAt.toISOString(), reason };
}

import type { ReadOnly } from "#db/client";
import { ConflictError } from "#db/errors";
import type { Write } from "#db/write";
import type { Config } from "../config/schema.ts";
import { lockUser } from "../identity/users.ts";
import type { RequestContext } from "../runtime.ts";
import type { Session } from "../sessions/session.ts";
import { describeSession, liveSessions } from "../sessions/session-list.ts";
import type { Tenant } from "../tenants/tenant.ts";
import type { Identity } from "./linked-identities.ts";
import { describeAccount, type Profile } from "./profile.ts";
import { readAccount } from "./stored-account.ts";

/** An account as its owner manages it: what the profile flow decides by and shows. */
export interface Account {
  profile: Profile;
  hasPassword: boolean;
  /** Those of providers that are switched off too. */
  identities: Identity[];
  /** Live sessions, newest first. */
  sessions: Session[];
}

/**
 * Reads an account for its owner, in three round trips.
 *
 * @param db a pool, or the transaction that has just changed the account
 * @param now sessions that have ended by then are left out
 * @returns null when there is no such account
 */
export async function accountOf(
  db: ReadOnly,
  tenant: Tenant,
  userId: string,
  now: Date,
): Promise<Account | null> {
  const stored = await readAccount(db, tenant.id, userId);
  if (!stored) return null;
  return {
    profile: describeAccount(stored, tenant.config),
    hasPassword: stored.hasPassword,
    identities: stored.identities,
    sessions: await liveSessions(db, tenant, userId, now),
  };
}

/** Payload of `profile_init`. Pure. */
export function profilePayload(
  { profile, sessions }: Account,
  { config, currentSessionId }: { config: Config; currentSessionId: string },
): Record<string, unknown> {
  return {
    user: profile,
    ...(config.session.show_on_profile
      ? { sessions: sessions.map((session) => describeSession(session, currentSessionId)) }
      : {}),
  };
}

/**
 * The first of a step's writes: what was judged has to hold of the account as it stands now. Steps that change one
 * account wait for each other here, so that two of them cannot each take what the other relied on.
 *
 * @throws TakenError("account") when it no longer holds
 */
export function requireAccount(
  { tenant, now }: Pick<RequestContext, "tenant" | "now">,
  userId: string,
  holds: (account: Account) => boolean,
): Write {
  return async (tx) => {
    await lockUser(tx, tenant.id, userId);
    const account = await accountOf(tx, tenant, userId, now);
    if (!account || !holds(account)) throw new ConflictError("account");
  };
}

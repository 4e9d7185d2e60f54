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

/** An account as the profile flow reads and shows it. */
export interface Account {
  profile: Profile;
  hasPassword: boolean;
  /** Includes identities of disabled providers. */
  identities: Identity[];
  /** Live sessions, newest first. */
  sessions: Session[];
}

/**
 * Reads an account for its owner, in three round trips.
 *
 * @param db a pool, or the transaction that has just changed the account
 * @param now sessions that ended before it are left out
 * @returns null if the account does not exist
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

/** Returns the payload of `profile_init`. */
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
 * Locks an account and checks a precondition on its current state. It comes first among a step's writes, so concurrent
 * changes of one account run one after the other and none relies on what another has removed.
 *
 * @throws ConflictError("user") if the account does not exist, ConflictError("account") if the precondition fails
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

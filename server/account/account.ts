import type { ReadOnly } from "#db/client";
import { ConflictError } from "#db/errors";
import type { Write } from "#db/write";
import type { Config } from "../config/schema.ts";
import type { Tenant } from "../config/tenant.ts";
import type { RequestContext } from "../context/context.ts";
import { lockUser } from "../identity/lock-user.ts";
import { isUploaded } from "../identity/picture.ts";
import { type Location, locate, type Places } from "../locations/location.ts";
import type { Session } from "../objects/session.ts";
import type { Logs } from "../observability/logger.ts";
import { describeSession, liveSessions } from "../sessions/session-list.ts";
import { authenticatorName } from "../webauthn/authenticator-names.ts";
import { type Belongings, type Locate, type Place, placeOf, readBelongings } from "./belongings.ts";
import type { Identity } from "./linked-identities.ts";
import { describeAccount, handlesPayload, type OwnerPayload, type Profile } from "./profile.ts";
import { readAccount, type StoredAccount } from "./stored-account.ts";

/** An account as the profile flow reads and shows it. */
export interface Account {
  profile: Profile;
  /** What is stored of it, also what the configuration disables. */
  stored: StoredAccount;
  /** Methods of which it has at most one, whether or not the configuration enables them. */
  has: StoredAccount["has"];
  /** `users.picture`: an address, or the path of an uploaded picture. */
  picture: string | null;
  /** Includes identities of disabled providers. */
  identities: Identity[];
  /** Live sessions, newest first. */
  sessions: Session[];
  /** Where the sessions are used, by their ids, as far as it is known. */
  sessionLocations: Record<string, Location>;
  /** See `OwnerPayload`. */
  handles: Pick<OwnerPayload, "user_handles">;
  /** By credential id; every passkey and security key has one. */
  credentialUses: Record<string, CredentialUse>;
  belongings: Belongings;
}

/** What kind of authenticator holds a credential, and where it was used last. */
export interface CredentialUse extends Place {
  /** Name of the provider or model, by the AAGUID. */
  authenticator?: string;
}

/**
 * Reads an account for its owner, in four round trips.
 *
 * @param db a pool, or the transaction that has just changed the account
 * @param now sessions that ended before it are left out
 * @param runtime finds the places of addresses; without it none is known
 * @returns null if the account does not exist
 */
export async function accountOf(
  db: ReadOnly,
  tenant: Tenant,
  userId: string,
  now: Date,
  runtime?: Places & Logs,
): Promise<Account | null> {
  const stored = await readAccount(db, tenant.id, userId);
  if (!stored) return null;
  const find: Locate = (address) => (runtime ? locate(runtime, address) : null);
  const sessions = await liveSessions(db, tenant, userId, now);
  return {
    profile: describeAccount(stored, tenant.config),
    stored,
    has: stored.has,
    picture: stored.user.picture,
    handles: handlesPayload(stored),
    identities: stored.identities,
    sessions,
    sessionLocations: Object.fromEntries(
      sessions.flatMap(({ id, ipAddress }) => {
        const location = ipAddress === null ? null : find(ipAddress);
        return location ? [[id, location]] : [];
      }),
    ),
    credentialUses: Object.fromEntries(stored.credentials.map((row) => [row.id, useOf(row, find)])),
    belongings: await readBelongings(db, tenant, userId, now, find),
  };
}

function useOf(row: StoredAccount["credentials"][number], find: Locate): CredentialUse {
  const authenticator = authenticatorName(row.aaguid);
  return {
    ...(authenticator === null ? {} : { authenticator }),
    ...placeOf({ userAgent: row.lastUsedUserAgent, ipAddress: row.lastUsedIpAddress }, find),
  };
}

/** Returns the payload of `profile_init`. Published clients ignore all members but `user` and `sessions`. */
export function profilePayload(
  { profile, picture, handles, sessions, sessionLocations, credentialUses, belongings }: Account,
  { config, currentSessionId }: { config: Config; currentSessionId: string },
): Record<string, unknown> {
  return {
    user: profile,
    ...(config.session.show_on_profile
      ? {
          sessions: sessions.map((session) => describeSession(session, currentSessionId)),
          session_locations: sessionLocations,
        }
      : {}),
    // The page shows no picture of another host, which would learn of the visit.
    ...(isUploaded(picture) ? { picture_path: picture } : {}),
    credential_uses: credentialUses,
    ...handles,
    ...(config.mfa.recovery_codes ? { recovery_codes_left: belongings.recoveryCodesLeft } : {}),
    phones: belongings.phones,
    trusted_browsers: belongings.trustedBrowsers,
    ...(config.session.show_on_profile ? { sign_ins: belongings.signIns } : {}),
    ...(config.account.metadata_editor ? { metadata_editor: true } : {}),
    relying_party_id: config.webauthn.relying_party.id,
  };
}

/**
 * Locks an account and checks a precondition on its current state. It comes first among a step's writes, so concurrent
 * changes of one account run one after the other and none relies on what another has removed.
 *
 * @throws ConflictError("user") if the account does not exist, ConflictError("account") if the precondition fails
 */
export function requireAccount(
  { tenant, now }: Pick<RequestContext<unknown>, "tenant" | "now">,
  userId: string,
  holds: (account: Account) => boolean,
): Write {
  return async (tx) => {
    await lockUser(tx, tenant.id, userId);
    const account = await accountOf(tx, tenant, userId, now);
    if (!account || !holds(account)) throw new ConflictError("account");
  };
}

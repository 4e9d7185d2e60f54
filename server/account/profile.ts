import type { ReadOnly, schema } from "#db/client";
import type { Config } from "../config/schema.ts";
import type { Tenant } from "../tenants/tenant.ts";
import { providerName } from "./linked-identities.ts";
import { readAccount, type StoredAccount } from "./stored-account.ts";

type Row<Table extends "emails" | "usernames" | "webauthnCredentials"> =
  (typeof schema)[Table]["$inferSelect"];

/** A passkey or a security key, as its owner sees it. Times are RFC 3339. */
export interface CredentialProfile {
  /** base64url */
  id: string;
  name?: string;
  /** COSE_Key in base64url */
  public_key: string;
  attestation_type: string;
  aaguid: string;
  last_used_at?: string;
  created_at: string;
  transports: string[];
  backup_eligible: boolean;
  backup_state: boolean;
  mfa_only: boolean;
}

/** Who a person is at an identity provider, as they see it. */
export interface IdentityProfile {
  /** The provider's name for the person. */
  id: string;
  /** What people call the provider. */
  provider: string;
  identity_id: string;
}

/** An address, as its owner sees it, with the identities whose providers name it. */
export interface EmailProfile {
  id: string;
  address: string;
  is_verified: boolean;
  is_primary: boolean;
  /** The first of them; clients know the one member or the other. */
  identity?: IdentityProfile;
  identities?: IdentityProfile[];
}

/** An account as its owner sees it: `payload.user` at `success`, and the body of `GET /me`. Times are RFC 3339. */
export interface Profile {
  id: string;
  user_id: string;
  passkeys?: CredentialProfile[];
  security_keys?: CredentialProfile[];
  mfa_config: { auth_app_set_up: boolean; totp_enabled: boolean; security_keys_enabled: boolean };
  /** Primary address first. */
  emails?: EmailProfile[];
  username?: { id: string; username: string; created_at: string; updated_at: string };
  /** What the operator lets be seen, and what the person may set. */
  metadata?: { public_metadata?: Record<string, unknown>; unsafe_metadata?: Record<string, unknown> };
  /** Oldest first; of providers that people can sign in by. */
  identities?: IdentityProfile[];
  name?: string;
  given_name?: string;
  family_name?: string;
  picture?: string;
  created_at: string;
  updated_at: string;
}

/**
 * Reads an account as its owner sees it.
 *
 * @param db a pool, or the transaction that has just written the account
 * @returns null when there is no such account
 */
export async function profileOf(db: ReadOnly, tenant: Tenant, userId: string): Promise<Profile | null> {
  const stored = await readAccount(db, tenant.id, userId);
  return stored && describeAccount(stored, tenant.config);
}

/** What an owner is shown of an account. What is empty, or switched off by the configuration, is left out. */
export function describeAccount(stored: StoredAccount, config: Config): Profile {
  const { user, username } = stored;
  const { totp, security_keys } = config.mfa;
  const totpEnabled = config.mfa.enabled && totp.enabled;
  const securityKeysEnabled = config.mfa.enabled && security_keys.enabled;
  const identities = stored.identities.flatMap((identity) => {
    const provider = providerName(config, identity.provider);
    if (provider === null) return [];
    return [{ email: identity.email, shown: { id: identity.subject, provider, identity_id: identity.id } }];
  });
  const namedBy = (address: string) =>
    identities.filter(({ email }) => email === address).map(({ shown }) => shown);
  const metadata = {
    ...filled("public_metadata", user.publicMetadata),
    ...filled("unsafe_metadata", user.unsafeMetadata),
  };
  return {
    id: user.id,
    user_id: user.id,
    ...some(
      "passkeys",
      config.passkey.enabled,
      stored.credentials.filter(({ mfaOnly }) => !mfaOnly).map(describeCredential),
    ),
    ...some(
      "security_keys",
      securityKeysEnabled,
      stored.credentials.filter(({ mfaOnly }) => mfaOnly).map(describeCredential),
    ),
    mfa_config: {
      auth_app_set_up: stored.hasTotp,
      totp_enabled: totpEnabled,
      security_keys_enabled: securityKeysEnabled,
    },
    ...some(
      "emails",
      config.email.enabled,
      stored.emails.map((email) => describeEmail(email, namedBy(email.address))),
    ),
    ...(config.username.enabled && username ? { username: describeUsername(username) } : {}),
    ...filled("metadata", metadata),
    ...some(
      "identities",
      true,
      identities.map(({ shown }) => shown),
    ),
    ...text("name", user.name),
    ...text("given_name", user.givenName),
    ...text("family_name", user.familyName),
    ...text("picture", user.picture),
    created_at: user.createdAt.toISOString(),
    updated_at: user.updatedAt.toISOString(),
  };
}

function some<Name extends string, Item>(
  name: Name,
  shown: boolean,
  list: Item[],
): { [Key in Name]?: Item[] } {
  return (shown && list.length > 0 ? { [name]: list } : {}) as { [Key in Name]?: Item[] };
}

function filled<Name extends string, Value extends object>(
  name: Name,
  value: Value,
): { [Key in Name]?: Value } {
  return (Object.keys(value).length > 0 ? { [name]: value } : {}) as { [Key in Name]?: Value };
}

function text<Name extends string>(name: Name, value: string | null): { [Key in Name]?: string } {
  return (value === null ? {} : { [name]: value }) as { [Key in Name]?: string };
}

function describeEmail(
  { id, address, verifiedAt, isPrimary }: Row<"emails">,
  identities: IdentityProfile[],
): EmailProfile {
  const [identity] = identities;
  return {
    id,
    address,
    is_verified: verifiedAt !== null,
    is_primary: isPrimary,
    ...(identity ? { identity, identities } : {}),
  };
}

function describeUsername({ id, username, createdAt, updatedAt }: Row<"usernames">) {
  return { id, username, created_at: createdAt.toISOString(), updated_at: updatedAt.toISOString() };
}

function describeCredential(row: Row<"webauthnCredentials">): CredentialProfile {
  return {
    id: row.id,
    ...(row.name === null ? {} : { name: row.name }),
    public_key: row.publicKey.toString("base64url"),
    attestation_type: row.attestationType,
    aaguid: row.aaguid,
    ...(row.lastUsedAt === null ? {} : { last_used_at: row.lastUsedAt.toISOString() }),
    created_at: row.createdAt.toISOString(),
    transports: row.transports,
    backup_eligible: row.backupEligible,
    backup_state: row.backupState,
    mfa_only: row.mfaOnly,
  };
}

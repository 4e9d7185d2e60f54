import { z } from "zod";
import type { ReadOnly, schema } from "#db/client";
import type { Config } from "../config/schema.ts";
import type { Tenant } from "../config/tenant.ts";
import { pictureAddress } from "../identity/picture.ts";
import { isAccepted } from "../methods/second-factors.ts";
import { securityKey } from "../methods/security-key/index.ts";
import { totp } from "../methods/totp/index.ts";
import { credentialUse } from "../objects/credential-object.ts";
import { legacyUserHandle } from "../webauthn/user-handle.ts";
import { providerName } from "./linked-identities.ts";
import { type AccountJson, readAccount, type StoredAccount, storedAccount } from "./stored-account.ts";

type Row<Table extends "emails" | "usernames" | "webauthnCredentials"> =
  (typeof schema)[Table]["$inferSelect"];

const time = z.iso.datetime();

const metadata = z.record(z.string(), z.unknown());

/** A passkey or a security key as shown to its owner. */
const credentialSchema = z
  .object({
    id: z.string().describe("base64url"),
    name: z.string().optional(),
    public_key: z.string().describe("COSE_Key in base64url."),
    attestation_type: z.string(),
    aaguid: z.guid(),
    ...credentialUse(time),
    mfa_only: z.boolean(),
  })
  .meta({ id: "ProfileCredential" });

export type CredentialProfile = z.output<typeof credentialSchema>;

/** An identity at a provider as shown to its owner. */
const identitySchema = z
  .object({
    id: z.string().describe("The subject identifier at the provider."),
    provider: z.string().describe("Display name of the provider."),
    identity_id: z.guid(),
  })
  .meta({ id: "ProfileIdentity" });

type IdentityProfile = z.output<typeof identitySchema>;

/** An address as shown to its owner, with the identities whose providers state it. */
const emailSchema = z.object({
  id: z.guid(),
  address: z.string(),
  is_verified: z.boolean(),
  is_primary: z.boolean(),
  /** The first of `identities`; clients read either member. */
  identity: identitySchema.optional(),
  identities: z.array(identitySchema).optional(),
});

export type EmailProfile = z.output<typeof emailSchema>;

/** An account as shown to its owner: `payload.user` at `success`, and the body of `GET /me`. Times are RFC 3339. */
export const profileSchema = z
  .object({
    id: z.guid(),
    user_id: z.guid(),
    passkeys: z.array(credentialSchema).optional(),
    security_keys: z.array(credentialSchema).optional(),
    mfa_config: z.object({
      auth_app_set_up: z.boolean(),
      totp_enabled: z.boolean(),
      security_keys_enabled: z.boolean(),
    }),
    emails: z.array(emailSchema).optional().describe("The primary one first."),
    username: z.object({ id: z.guid(), username: z.string(), created_at: time, updated_at: time }).optional(),
    phone_number: z.string().optional().describe("E.164 (OpenID Connect Core, 5.1)."),
    phone_number_verified: z.boolean().optional(),
    /** Public metadata are set by the operator, unsafe metadata by the user. */
    metadata: z
      .object({ public_metadata: metadata.optional(), unsafe_metadata: metadata.optional() })
      .optional(),
    /** Oldest first; only those of enabled providers. */
    identities: z.array(identitySchema).optional(),
    name: z.string().optional(),
    given_name: z.string().optional(),
    family_name: z.string().optional(),
    picture: z.string().optional(),
    created_at: time,
    updated_at: time,
  })
  .meta({ id: "Profile" });

export type Profile = z.output<typeof profileSchema>;

/**
 * Reads an account in the shape that is shown to its owner.
 *
 * @param db a pool, or the transaction that has just written the account
 * @returns null if the account does not exist
 */
export async function profileOf(db: ReadOnly, tenant: Tenant, userId: string): Promise<Profile | null> {
  const stored = await readAccount(db, tenant.id, userId);
  return stored && describeAccount(stored, tenant.config);
}

/** Members of a flow's payload about the account that signed in. Published clients ignore all but `user`. */
export interface OwnerPayload {
  user: Profile | null;
  /** The user handles of the account's passkeys, for signals to passkey managers; absent if it has none. */
  user_handles?: string[];
}

/** Reads the members of a payload about an account; `user` is null if the account does not exist. */
export async function ownerPayloadOf(db: ReadOnly, tenant: Tenant, userId: string): Promise<OwnerPayload> {
  return ownerPayload(await readAccount(db, tenant.id, userId), tenant);
}

/** The same, of what `accountPart` returns. */
export function ownerPayloadOfJson(account: AccountJson | null, tenant: Tenant): OwnerPayload {
  return ownerPayload(account && storedAccount(account), tenant);
}

function ownerPayload(stored: StoredAccount | null, tenant: Tenant): OwnerPayload {
  return stored
    ? { user: describeAccount(stored, tenant.config), ...handlesPayload(stored) }
    : { user: null };
}

/** The handles under which authenticators hold the credentials of an account. */
export function handlesPayload({ user, credentials }: StoredAccount): Pick<OwnerPayload, "user_handles"> {
  const handles = credentials.map(({ userHandle }) => userHandle ?? legacyUserHandle(user.id));
  const distinct = [...new Set(handles.map((handle) => handle.toString("base64url")))];
  return distinct.length > 0 ? { user_handles: distinct } : {};
}

/** Converts an account to the shape that is shown to its owner. Empty and disabled parts are left out. */
export function describeAccount(stored: StoredAccount, config: Config): Profile {
  const { user, username, phone } = stored;
  const securityKeysEnabled = isAccepted(securityKey, config);
  const identities = stored.identities.flatMap((identity) => {
    const provider = providerName(config, identity.provider);
    if (provider === null) return [];
    return [{ email: identity.email, shown: { id: identity.subject, provider, identity_id: identity.id } }];
  });
  const namedBy = (address: string) =>
    identities.filter(({ email }) => email === address).map(({ shown }) => shown);
  const metadata = {
    ...nonEmptyObject("public_metadata", user.publicMetadata),
    ...nonEmptyObject("unsafe_metadata", user.unsafeMetadata),
  };
  return {
    id: user.id,
    user_id: user.id,
    ...nonEmptyList(
      "passkeys",
      config.passkey.enabled,
      stored.credentials.filter(({ mfaOnly }) => !mfaOnly).map(describeCredential),
    ),
    ...nonEmptyList(
      "security_keys",
      securityKeysEnabled,
      stored.credentials.filter(({ mfaOnly }) => mfaOnly).map(describeCredential),
    ),
    mfa_config: {
      auth_app_set_up: stored.has.hasTotp,
      totp_enabled: isAccepted(totp, config),
      security_keys_enabled: securityKeysEnabled,
    },
    ...nonEmptyList(
      "emails",
      config.email.enabled,
      stored.emails.map((email) => describeEmail(email, namedBy(email.address))),
    ),
    ...(config.username.enabled && username ? { username: describeUsername(username) } : {}),
    ...(config.phone.enabled && phone
      ? { phone_number: phone.number, phone_number_verified: phone.verifiedAt !== null }
      : {}),
    ...nonEmptyObject("metadata", metadata),
    ...nonEmptyList(
      "identities",
      true,
      identities.map(({ shown }) => shown),
    ),
    ...nonNull("name", user.name),
    ...nonNull("given_name", user.givenName),
    ...nonNull("family_name", user.familyName),
    ...nonNull("picture", pictureAddress(config, user.picture)),
    created_at: user.createdAt.toISOString(),
    updated_at: user.updatedAt.toISOString(),
  };
}

function nonEmptyList<Name extends string, Item>(
  name: Name,
  shown: boolean,
  list: Item[],
): { [Key in Name]?: Item[] } {
  return (shown && list.length > 0 ? { [name]: list } : {}) as { [Key in Name]?: Item[] };
}

function nonEmptyObject<Name extends string, Value extends object>(
  name: Name,
  value: Value,
): { [Key in Name]?: Value } {
  return (Object.keys(value).length > 0 ? { [name]: value } : {}) as { [Key in Name]?: Value };
}

function nonNull<Name extends string>(name: Name, value: string | null): { [Key in Name]?: string } {
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

import { sql } from "drizzle-orm";
import {
  bigint,
  boolean,
  index,
  integer,
  jsonb,
  pgView,
  primaryKey,
  text,
  unique,
  uniqueIndex,
  uuid,
} from "drizzle-orm/pg-core";
import {
  bytes,
  createdAt,
  credentialRecord,
  deletedWith,
  isSet,
  moment,
  tenantId,
  times,
} from "./columns.ts";
import { declareTable, sealed } from "./table.ts";
import { tenants } from "./tenants.ts";

/** Free-form data of an account, each kind at most 3000 characters of JSON. */
export type Metadata = Record<string, unknown>;

export const users = declareTable(
  "users",
  {
    tenantId: tenantId().references(() => tenants.id, { onDelete: "cascade" }),
    id: uuid("id").notNull(),
    name: text("name"),
    givenName: text("given_name"),
    familyName: text("family_name"),
    /** An http(s) address, or the path of the picture that the user uploaded. */
    picture: text("picture"),
    /** Language of the last sign-in, a tag of `words/language-tags.ts`; null if no sign-in named one. */
    language: text("language"),
    /** Visible to the user and to applications. */
    publicMetadata: jsonb("public_metadata").notNull().default({}).$type<Metadata>(),
    /** Visible only to the operator. */
    privateMetadata: jsonb("private_metadata").notNull().default({}).$type<Metadata>(),
    /** Writable by the user, so it must not be trusted. */
    unsafeMetadata: jsonb("unsafe_metadata").notNull().default({}).$type<Metadata>(),
    /** Since when the account is blocked; null if it is not. A blocked account has no session and gets none. */
    blockedAt: moment("blocked_at"),
    /** When the user last declined to create a passkey; null if never. */
    passkeyDeclinedAt: moment("passkey_declined_at"),
    /** When a sign-in last issued a session; null if none has since version 0.4. No index has it: each sign-in writes it. */
    lastSignInAt: moment("last_sign_in_at"),
    ...times(),
  },
  {
    owner: "account",
    ends: "when the account is deleted",
    exported: {
      as: [
        "id",
        "name",
        "given_name",
        "family_name",
        "picture",
        "language",
        "public_metadata",
        "private_metadata",
        "unsafe_metadata",
        "blocked_at",
        "created_at",
        "updated_at",
      ],
    },
  },
  (table) => [
    primaryKey({ columns: [table.tenantId, table.id] }),
    // The order in which the administration interface lists users.
    index("users_created_at").on(table.tenantId, table.createdAt, table.id),
    // Operators search by the beginning of a name, whatever its case.
    index("users_name").on(table.tenantId, sql`lower("name") text_pattern_ops`).where(isSet(table.name)),
    index("users_family_name")
      .on(table.tenantId, sql`lower("family_name") text_pattern_ops`)
      .where(isSet(table.familyName)),
  ],
);

/** Pictures that users uploaded: JPEG without metadata. The id is in their address, so a new picture has a new one. */
export const userPictures = declareTable(
  "user_pictures",
  {
    tenantId: tenantId(),
    userId: uuid("user_id").notNull(),
    id: uuid("id").notNull(),
    data: bytes("data").notNull(),
    createdAt: createdAt(),
  },
  {
    owner: "account",
    ends: "when the picture is replaced or removed",
    exported: { as: ["picture_file"] },
  },
  (table) => [
    primaryKey({ columns: [table.tenantId, table.userId] }),
    unique("user_pictures_id_unique").on(table.tenantId, table.id),
    deletedWith(users, table.tenantId, table.userId),
  ],
);

export const emails = declareTable(
  "emails",
  {
    tenantId: tenantId(),
    id: uuid("id").notNull(),
    userId: uuid("user_id").notNull(),
    /** In canonical form, see `server/identity/email/email-address.ts`. */
    address: text("address").notNull(),
    isPrimary: boolean("is_primary").notNull(),
    verifiedAt: moment("verified_at"),
    ...times(),
  },
  {
    owner: "account",
    ends: "when the address is removed, or verified by its owner in another account",
    exported: { as: ["emails"] },
  },
  (table) => [
    primaryKey({ columns: [table.tenantId, table.id] }),
    unique("emails_address_unique").on(table.tenantId, table.address),
    uniqueIndex("emails_primary_unique").on(table.tenantId, table.userId).where(sql`is_primary`),
    index("emails_user").on(table.tenantId, table.userId),
    // For searches by the beginning of an address: the collation of a database may not serve them.
    index("emails_beginning").on(table.tenantId, table.address.op("text_pattern_ops")),
    deletedWith(users, table.tenantId, table.userId),
  ],
);

export const usernames = declareTable(
  "usernames",
  {
    tenantId: tenantId(),
    id: uuid("id").notNull(),
    userId: uuid("user_id").notNull(),
    /** In canonical form, see `server/identity/username/username.ts`. */
    username: text("username").notNull(),
    ...times(),
  },
  {
    owner: "account",
    ends: "when the username is removed",
    exported: { as: ["username"] },
  },
  (table) => [
    primaryKey({ columns: [table.tenantId, table.id] }),
    unique("usernames_username_unique").on(table.tenantId, table.username),
    unique("usernames_user_unique").on(table.tenantId, table.userId),
    index("usernames_beginning").on(table.tenantId, table.username.op("text_pattern_ops")),
    deletedWith(users, table.tenantId, table.userId),
  ],
);

/** Phone numbers: an account has at most one. */
export const phoneNumbers = declareTable(
  "phone_numbers",
  {
    tenantId: tenantId(),
    id: uuid("id").notNull(),
    userId: uuid("user_id").notNull(),
    /** In canonical form (E.164), see `server/identity/phone/phone-number.ts`. */
    number: text("number").notNull(),
    verifiedAt: moment("verified_at"),
    ...times(),
  },
  {
    owner: "account",
    ends: "when the number is removed, or verified by its owner while it is unverified in an account with another verified identifier",
    exported: { as: ["phone_number", "phone_number_verified_at"] },
  },
  (table) => [
    primaryKey({ columns: [table.tenantId, table.id] }),
    unique("phone_numbers_number_unique").on(table.tenantId, table.number),
    unique("phone_numbers_user_unique").on(table.tenantId, table.userId),
    deletedWith(users, table.tenantId, table.userId),
  ],
);

export const passwords = declareTable(
  "passwords",
  {
    tenantId: tenantId(),
    userId: uuid("user_id").notNull(),
    /** The hash with its scheme and parameters, see `server/methods/password/passwords.ts`. */
    hash: text("hash").notNull(),
    ...times(),
  },
  {
    owner: "account",
    revoked: "credential",
    ends: "when the password is removed",
    exported: { as: ["password_hash", "password_set_at"], isSecret: true },
  },
  (table) => [
    primaryKey({ columns: [table.tenantId, table.userId] }),
    deletedWith(users, table.tenantId, table.userId),
  ],
);

/** Passkeys and security keys. */
export const webauthnCredentials = declareTable(
  "webauthn_credentials",
  {
    ...credentialRecord(),
    tenantId: tenantId(),
    userId: uuid("user_id").notNull(),
    mfaOnly: boolean("mfa_only").notNull(),
    /** Whether an attestation that leads to a trusted root has proved that its key cannot leave a hardware authenticator. */
    hardwareProtected: boolean("hardware_protected").notNull().default(false),
    /**
     * `user.id` of the ceremony that created it: the account's handle, or that of another system for an imported one.
     * Null if it is the id of the account, as former versions used, or was not recorded: see `user_handles`.
     */
    userHandle: bytes("user_handle"),
    /** Browser and network of the last use; null if none is known. */
    lastUsedUserAgent: text("last_used_user_agent"),
    lastUsedIpAddress: text("last_used_ip_address"),
  },
  {
    owner: "account",
    revoked: "credential",
    ends: "when the credential is removed",
    exported: { as: ["passkeys"] },
  },
  (table) => [
    primaryKey({ name: "webauthn_credentials_pkey", columns: [table.tenantId, table.id] }),
    index("webauthn_credentials_user").on(table.tenantId, table.userId),
    deletedWith(users, table.tenantId, table.userId),
  ],
);

/**
 * WebAuthn user handles (Level 3, 5.4.3): 64 random bytes for each account, made with its first passkey. Apart from
 * `users`, because the first passkey of a registration is created before the account.
 */
export const userHandles = declareTable(
  "user_handles",
  {
    tenantId: tenantId().references(() => tenants.id, { onDelete: "cascade" }),
    userId: uuid("user_id").notNull(),
    handle: bytes("handle").notNull(),
    /** When it is deleted if no account came of the registration; null once a credential of the account bears it. */
    expiresAt: moment("expires_at"),
  },
  {
    owner: "account",
    purge: {
      by: "expiresAt",
      and: sql`not exists (select from users u where u.tenant_id = user_handles.tenant_id and u.id = user_handles.user_id)`,
      only: "if no account came of the registration",
    },
    exported: { because: "Each of the exported passkeys has its handle." },
  },
  (table) => [
    primaryKey({ columns: [table.tenantId, table.userId] }),
    uniqueIndex("user_handles_handle").on(table.handle),
    index("user_handles_expires_at").on(table.expiresAt).where(isSet(table.expiresAt)),
  ],
);

/** Secrets shared with authenticator apps (RFC 6238). */
export const totpSecrets = declareTable(
  "totp_secrets",
  {
    tenantId: tenantId(),
    userId: uuid("user_id").notNull(),
    sealedSecret: bytes("sealed_secret").notNull(),
    /** The time step of the last accepted code. Codes of this and earlier time steps are rejected. */
    lastStep: bigint("last_step", { mode: "number" }).notNull(),
    createdAt: createdAt(),
  },
  {
    owner: "account",
    revoked: "credential",
    ends: "when the authenticator app is removed",
    exported: { as: ["totp"], isSecret: true },
    keyed: {
      sealedSecret: sealed("the secret of an authenticator app", "totp secret {tenantId} {userId}"),
    },
  },
  (table) => [
    primaryKey({ columns: [table.tenantId, table.userId] }),
    deletedWith(users, table.tenantId, table.userId),
  ],
);

/** Single-use codes that replace a lost second factor. A row is deleted when its code is used. */
export const recoveryCodes = declareTable(
  "recovery_codes",
  {
    tenantId: tenantId(),
    userId: uuid("user_id").notNull(),
    codeHash: bytes("code_hash").notNull(),
    /** Id of the secret key of the hash. Release 0.2 knows no such id. */
    keyId: bytes("key_id"),
    createdAt: createdAt(),
  },
  {
    owner: "account",
    revoked: "credential",
    ends: "when the code is used, or the codes are replaced or not needed any more",
    exported: { as: ["recovery_codes"], isSecret: true },
    keyed: {
      codeHash: { kind: "digest", holds: "a recovery code", keyColumn: "keyId", after: "replacement" },
    },
  },
  (table) => [
    primaryKey({ columns: [table.tenantId, table.userId, table.codeHash] }),
    deletedWith(users, table.tenantId, table.userId),
  ],
);

/** Trusted devices: browsers that may skip the second factor. The token is stored as a hash and replaced at each use. */
export const trustedDevices = declareTable(
  "trusted_devices",
  {
    tenantId: tenantId(),
    id: uuid("id").notNull(),
    userId: uuid("user_id").notNull(),
    tokenHash: bytes("token_hash").notNull(),
    /** When a newer token replaced this one. A later use indicates a stolen copy. */
    replacedAt: moment("replaced_at"),
    /** Browser and network of the use that created the token; null if they are not known. */
    userAgent: text("user_agent"),
    ipAddress: text("ip_address"),
    createdAt: createdAt(),
    expiresAt: moment("expires_at").notNull(),
  },
  {
    owner: "account",
    revoked: "access",
    ends: "when the trust is revoked, or a second factor is removed",
    purge: { by: "expiresAt" },
    exported: { because: "The cookies of the browsers are those of this service." },
  },
  (table) => [
    primaryKey({ columns: [table.tenantId, table.id] }),
    uniqueIndex("trusted_devices_token").on(table.tenantId, table.tokenHash),
    index("trusted_devices_user").on(table.tenantId, table.userId),
    index("trusted_devices_expires_at").on(table.expiresAt),
    deletedWith(users, table.tenantId, table.userId),
  ],
);

/** Identities at identity providers: the provider and its subject, never an email address. */
export const identities = declareTable(
  "identities",
  {
    tenantId: tenantId(),
    id: uuid("id").notNull(),
    userId: uuid("user_id").notNull(),
    /** `google`, `custom_acme`, or `saml:` and the entity id of the provider. */
    provider: text("provider").notNull(),
    subject: text("subject").notNull(),
    /** The email address from the provider, in canonical form. It proves no ownership. */
    email: text("email"),
    ...times(),
  },
  {
    owner: "account",
    revoked: "credential",
    ends: "when the identity is disconnected",
    exported: { as: ["identities"] },
  },
  (table) => [
    primaryKey({ columns: [table.tenantId, table.id] }),
    unique("identities_subject_unique").on(table.tenantId, table.provider, table.subject),
    index("identities_user").on(table.tenantId, table.userId),
    deletedWith(users, table.tenantId, table.userId),
  ],
);

/** Rows that say that a user has a fact. */
export interface FactRows {
  table: string;
  /** Which rows of the table do, as SQL about the row `o`. Default: all. */
  condition?: string;
  /** SQL of the user of the row `o`; null if it is of none. Default: `o.user_id`. */
  user?: string;
}

/** By which rows a user has a fact. `userFacts` asks it for one user, the dry run of settings for all. */
export const factRows = {
  hasPassword: { table: "passwords" },
  hasPasskey: { table: "webauthn_credentials", condition: "not o.mfa_only" },
  hasSecurityKey: { table: "webauthn_credentials", condition: "o.mfa_only" },
  hasTotp: { table: "totp_secrets" },
  hasAuthenticator: {
    table: "authenticator_devices",
    // Applications register devices of users of their own under any text.
    user: "case when o.user_id ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then o.user_id::uuid end",
  },
  hasRecoveryCode: { table: "recovery_codes" },
  hasIdentity: { table: "identities" },
  email: { table: "emails", condition: "o.is_primary" },
  emailVerified: { table: "emails", condition: "o.is_primary and o.verified_at is not null" },
  username: { table: "usernames" },
  phone: { table: "phone_numbers" },
  phoneVerified: { table: "phone_numbers", condition: "o.verified_at is not null" },
} as const satisfies Record<string, FactRows>;

/**
 * SQL of the facts of users, with `{tenant}` for their tenant in each table: Citus sends a statement whose tables all name
 * their tenant to one node, and cannot follow one table's tenant to the next.
 */
const factsTemplate = (() => {
  const has = ({ table, condition = "true" }: FactRows) =>
    `exists(select from ${table} o where o.tenant_id = {tenant} and o.user_id = u.id and ${condition})`;
  return `
  select u.tenant_id, u.id as user_id,
    ${has(factRows.hasPassword)} as has_password,
    ${has(factRows.hasPasskey)} as has_passkey,
    ${has(factRows.hasSecurityKey)} as has_security_key,
    ${has(factRows.hasTotp)} as has_totp,
    exists(select from authenticator_devices d where d.tenant_id = {tenant} and d.user_id = u.id::text) as has_authenticator,
    ${has(factRows.hasRecoveryCode)} as has_recovery_code,
    ${has(factRows.hasIdentity)} as has_identity,
    (select count(*)::int from webauthn_credentials c where c.tenant_id = {tenant} and c.user_id = u.id) as credential_count,
    (select n.username from usernames n where n.tenant_id = {tenant} and n.user_id = u.id) as username,
    e.address as email,
    e.verified_at is not null as email_verified,
    u.language,
    u.blocked_at is not null as blocked,
    u.passkey_declined_at,
    p.number as phone,
    p.verified_at is not null as phone_verified
  from users u
  left join emails e on e.tenant_id = {tenant} and e.user_id = u.id and e.is_primary
  left join phone_numbers p on p.tenant_id = {tenant} and p.user_id = u.id`;
})();

/** SQL of the facts of the users of a tenant, to select from. @param tenant SQL of its id, a parameter */
export function userFactsText(tenant: string): string {
  return `(${factsTemplate.replaceAll("{tenant}", tenant)} where u.tenant_id = ${tenant})`;
}

/** The facts of a user that flows need, in one row. */
export const userFacts = pgView("user_facts", {
  tenantId: uuid("tenant_id").notNull(),
  userId: uuid("user_id").notNull(),
  hasPassword: boolean("has_password").notNull(),
  /** Security keys that are second factors only do not count. */
  hasPasskey: boolean("has_passkey").notNull(),
  hasSecurityKey: boolean("has_security_key").notNull(),
  hasTotp: boolean("has_totp").notNull(),
  /** Has a registered device that answers authenticator requests. */
  hasAuthenticator: boolean("has_authenticator").notNull(),
  hasRecoveryCode: boolean("has_recovery_code").notNull(),
  /** Linked to an identity provider. */
  hasIdentity: boolean("has_identity").notNull(),
  /** Passkeys and security keys together. */
  credentialCount: integer("credential_count").notNull(),
  username: text("username"),
  /** The primary address. */
  email: text("email"),
  emailVerified: boolean("email_verified").notNull(),
  /** Language tag of the last sign-in that named one. */
  language: text("language"),
  /** The operator has blocked the account. */
  blocked: boolean("blocked").notNull(),
  /** When the user last declined to create a passkey; null if never. */
  passkeyDeclinedAt: moment("passkey_declined_at"),
  phone: text("phone"),
  phoneVerified: boolean("phone_verified").notNull(),
}).as(sql.raw(factsTemplate.replaceAll("{tenant}", "u.tenant_id")));

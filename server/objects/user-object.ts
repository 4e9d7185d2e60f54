import { and, eq, type SQL } from "drizzle-orm";
import { z } from "zod";
import { type ReadOnly, schema } from "#db/client";
import { isoTime } from "#db/iso-time";
import type { TableName } from "#db/tables";
import { withValues } from "#db/with-values";
import type { Config } from "../config/schema.ts";
import type { Tenant } from "../config/tenant.ts";
import { credentialUse } from "./credential-object.ts";

/** RFC 3339 in UTC with milliseconds, as `Date.toISOString` writes it. */
const time = z.iso.datetime({ precision: 3 });

const id = z.guid();

const times = { created_at: time, updated_at: time };

/** A passkey or a security key of a user. */
export const userCredentialSchema = z
  .strictObject({
    id: z.string().describe("Credential id, base64url."),
    name: z.string().optional(),
    public_key: z.string().describe("COSE_Key, base64url."),
    attestation_type: z.string(),
    aaguid: z.guid(),
    ...credentialUse(time),
    mfa_only: z.boolean().describe("True for a security key that is a second factor only."),
  })
  .meta({ id: "UserCredential" });

/** An email address of a user. */
export const userEmailSchema = z
  .strictObject({
    id,
    address: z.string(),
    is_verified: z.boolean(),
    is_primary: z.boolean(),
    ...times,
  })
  .meta({ id: "UserEmail" });

/** The username of a user. */
export const usernameSchema = z.strictObject({ id, username: z.string(), ...times }).meta({ id: "Username" });

/** The phone number of a user (OpenID Connect Core, 5.1). */
export const userPhoneSchema = z
  .strictObject({
    phone_number: z.string().describe("E.164."),
    phone_number_verified: z.boolean().describe("Whether a code that was sent to it was entered."),
  })
  .meta({ id: "UserPhoneNumber" });

/** That a user has a password. Its `id` is the id of the user. */
export const userPasswordSchema = z
  .strictObject({ id, tenant_id: z.guid(), ...times })
  .meta({ id: "UserPassword" });

/** That a user has an authenticator app. Its `id` is the id of the user. */
export const userOtpSchema = z.strictObject({ id, created_at: time }).meta({ id: "UserOtp" });

/** An identity of a user at an identity provider. */
export const userIdentitySchema = z
  .strictObject({
    id,
    provider_id: z.string().describe("The subject identifier at the provider."),
    provider_name: z.string().describe("The provider: `google`, `custom_…`, or `saml:` and its entity id."),
    email_id: id.optional().describe("The user's email with the address that the provider stated."),
    ...times,
  })
  .meta({ id: "UserIdentity" });

const metadataObject = z.record(z.string(), z.unknown());

/** The metadata of a user that are not empty. */
export const userMetadataSchema = z
  .strictObject({
    public_metadata: metadataObject.optional().describe("Visible to the user and to applications."),
    private_metadata: metadataObject.optional().describe("Visible to the operator alone."),
    unsafe_metadata: metadataObject.optional().describe("Writable by the user."),
  })
  .meta({ id: "UserMetadata" });

/**
 * A user as the operator sees it: in the administration API and as the data of `user.*` events. Empty members are left
 * out.
 */
export const userObjectSchema = z
  .strictObject({
    id,
    webauthn_credentials: z.array(userCredentialSchema).optional().describe("Oldest first."),
    emails: z.array(userEmailSchema).optional().describe("The primary one first."),
    username: usernameSchema.optional(),
    phone_number: userPhoneSchema.shape.phone_number.optional(),
    phone_number_verified: userPhoneSchema.shape.phone_number_verified.optional(),
    ...times,
    password: userPasswordSchema.optional(),
    identities: z.array(userIdentitySchema).optional().describe("Oldest first."),
    otp: userOtpSchema.optional(),
    metadata: userMetadataSchema.optional(),
    blocked_at: time
      .optional()
      .describe("Since when the account is blocked: it has no session and gets none."),
    language: z.string().optional().describe("Of mails, a tag of BCP 47."),
    last_sign_in_at: time.optional().describe("When a sign-in last issued a session."),
    name: z.string().optional(),
    given_name: z.string().optional(),
    family_name: z.string().optional(),
    picture: z.string().optional(),
  })
  .meta({ id: "User" });

export type UserObject = z.infer<typeof userObjectSchema>;

const timesOf = (table: string) =>
  `'created_at', ${isoTime(`${table}.created_at`)}, 'updated_at', ${isoTime(`${table}.updated_at`)}`;

const base64url = (column: string) => `translate(encode(${column}, 'base64'), '+/=' || chr(10), '-_')`;

/** A row of `users` in a statement. */
interface UserRow {
  /** The name under which the statement's `from` knows it. */
  row: string;
  /** SQL of the id of its tenant, a parameter: each table names it. */
  tenant: string;
}

/** Returns the SQL of a list of the rows of a table that belong to the user; null if there are none. */
const listOf = (user: UserRow, table: string, item: string, order: string) =>
  `(select jsonb_agg(jsonb_strip_nulls(jsonb_build_object(${item})) order by ${order})
    from ${table} o where o.tenant_id = ${user.tenant} and o.user_id = ${user.row}.id)`;

/** Returns the SQL of the one row of a table that belongs to the user; null if there is none. */
const rowOf = (user: UserRow, table: string, members: string) =>
  `(select jsonb_build_object(${members})
    from ${table} o where o.tenant_id = ${user.tenant} and o.user_id = ${user.row}.id)`;

/** Returns the SQL of a value of the one row of a table that belongs to the user; null if there is none. */
const valueIn = (user: UserRow, table: string, value: string) =>
  `(select ${value} from ${table} o where o.tenant_id = ${user.tenant} and o.user_id = ${user.row}.id)`;

type CredentialTable = TableName<{ owner: "account"; revoked: "credential" }>;

/** What the object shows of the credentials in each table, as a member and its SQL; null for nothing. */
const shownCredentials: Record<CredentialTable, null | ((user: UserRow) => string)> = {
  passwords: (user) =>
    `'password', ${rowOf(user, "passwords", `'id', o.user_id, 'tenant_id', o.tenant_id, ${timesOf("o")}`)}`,
  webauthn_credentials: (user) =>
    `'webauthn_credentials', ${listOf(
      user,
      "webauthn_credentials",
      `'id', o.id, 'name', o.name, 'public_key', ${base64url("o.public_key")},
       'attestation_type', o.attestation_type, 'aaguid', o.aaguid, 'last_used_at', ${isoTime("o.last_used_at")},
       'created_at', ${isoTime("o.created_at")}, 'transports', to_jsonb(o.transports),
       'backup_eligible', o.backup_eligible, 'backup_state', o.backup_state, 'mfa_only', o.mfa_only`,
      "o.created_at, o.id",
    )}`,
  totp_secrets: (user) =>
    `'otp', ${rowOf(user, "totp_secrets", `'id', o.user_id, 'created_at', ${isoTime("o.created_at")}`)}`,
  identities: (user) =>
    `'identities', ${listOf(
      user,
      "identities",
      `'id', o.id, 'provider_id', o.subject, 'provider_name', o.provider,
       'email_id', (select e.id from emails e
         where e.tenant_id = ${user.tenant} and e.user_id = o.user_id and e.address = o.email),
       ${timesOf("o")}`,
      "o.created_at, o.id",
    )}`,
  // The administration interface has operations of their own for both.
  authenticator_devices: null,
  recovery_codes: null,
};

const credentialMembers = (user: UserRow) =>
  Object.values(shownCredentials)
    .flatMap((shown) => (shown ? [shown(user)] : []))
    .join(", ");

/**
 * Returns the SQL expression that builds the object of `userObjectSchema` as one `jsonb`, so that one statement reads
 * any number of users, and an event takes its snapshot in the transaction of the change.
 *
 * @param tenant uploaded pictures are below its address
 * @param row the name under which the statement's `from` knows the row of `users`
 */
export function userObject({ id, config }: Of, row = "users"): SQL<UserObject> {
  const text = userObjectText("{baseUrl}", { row, tenant: "{tenantId}::uuid" });
  return withValues(text, { baseUrl: config.base_url, tenantId: id }) as SQL<UserObject>;
}

interface Of extends Pick<Tenant, "id"> {
  config: Pick<Config, "base_url">;
}

/** The same as text. @param baseUrl SQL of the tenant's address */
export function userObjectText(baseUrl: string, user: UserRow): string {
  const { row } = user;
  // jsonb_strip_nulls would also reach into metadata, whose nulls belong to the operator and the user.
  const members = `
    'id', ${row}.id,
    'emails', ${listOf(
      user,
      "emails",
      `'id', o.id, 'address', o.address, 'is_verified', o.verified_at is not null, 'is_primary', o.is_primary,
       ${timesOf("o")}`,
      "o.is_primary desc, o.created_at, o.id",
    )},
    'username', ${rowOf(user, "usernames", `'id', o.id, 'username', o.username, ${timesOf("o")}`)},
    'phone_number', ${valueIn(user, "phone_numbers", "o.number")},
    'phone_number_verified', ${valueIn(user, "phone_numbers", "o.verified_at is not null")},
    ${timesOf(row)},
    ${credentialMembers(user)},
    'blocked_at', ${isoTime(`${row}.blocked_at`)}, 'last_sign_in_at', ${isoTime(`${row}.last_sign_in_at`)},
    'language', ${row}.language, 'name', ${row}.name, 'given_name', ${row}.given_name, 'family_name', ${row}.family_name,
    'picture', case when ${row}.picture like '/%' then `;
  const metadata = ["public_metadata", "private_metadata", "unsafe_metadata"]
    .map(
      (name) =>
        `case when ${row}.${name} = '{}' then '{}'::jsonb else jsonb_build_object('${name}', ${row}.${name}) end`,
    )
    .join(" || ");
  return `(jsonb_strip_nulls(jsonb_build_object(${members} ${baseUrl}::text || ${row}.picture else ${row}.picture end))
    || case when (${metadata}) = '{}' then '{}'::jsonb else jsonb_build_object('metadata', ${metadata}) end)`;
}

/**
 * Reads a user as the operator sees it.
 *
 * @param db a pool, or the transaction that has just changed the user
 * @returns null if the tenant has no such user
 */
export async function readUserObject(
  db: ReadOnly,
  { id, config }: Pick<Tenant, "id" | "config">,
  userId: string,
): Promise<UserObject | null> {
  const { users } = schema;
  const [found] = await db
    .select({ user: userObject({ id, config }) })
    .from(users)
    .where(and(eq(users.tenantId, id), eq(users.id, userId)));
  return found?.user ?? null;
}

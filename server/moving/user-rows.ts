import { getTableColumns, getTableName, type SQL, sql } from "drizzle-orm";
import type { Queryable } from "#db/client";
import { type TableName, tables } from "#db/tables";

/** The rows of a user, as JSON that PostgreSQL converts: times as text, bytes in hexadecimal. A null time is that of the import. */
export interface UserRows {
  user: { id: string; created_at: string | null; updated_at: string | null } & Record<string, unknown>;
  emails: {
    id: string;
    address: string;
    is_primary: boolean;
    is_verified: boolean;
    /** Null for the time of the row. */
    verified_at: string | null;
    created_at: string | null;
  }[];
  /** `data` is a JPEG without metadata. */
  uploadedPicture: Record<string, unknown> | null;
  username: { id: string; username: string } | null;
  password: { hash: string; set_at: string | null } | null;
  credentials: ({ id: string } & Record<string, unknown>)[];
  totp: Record<string, unknown> | null;
  /** Digests. */
  recoveryCodes: { key_id: string; code_hash: string }[];
  identities: ({ id: string; provider: string; subject: string } & Record<string, unknown>)[];
}

/** What one user of a tenant at most may have: a kind and a value. */
export type UserKey = `${"id" | "email" | "username" | "passkey" | "identity"}:${string}`;

export function userKey(
  kind: UserKey extends `${infer Kind}:${string}` ? Kind : never,
  value: string,
): UserKey {
  return `${kind}:${value}` as UserKey;
}

/** The values of all keys of a kind. */
function valuesOf(keys: readonly UserKey[], kind: string): string[] {
  return keys.flatMap((key) => (key.startsWith(`${kind}:`) ? [key.slice(kind.length + 1)] : []));
}

/** Finds the keys that users of the tenant have, in one statement. */
export async function takenKeys(
  db: Pick<Queryable, "execute">,
  tenantId: string,
  keys: readonly UserKey[],
): Promise<Set<string>> {
  const of = (kind: string) => sql.param(valuesOf(keys, kind));
  const identities = valuesOf(keys, "identity").map((key) => JSON.parse(key) as [string, string]);
  const providers = sql.param(identities.map(([provider]) => provider));
  const subjects = sql.param(identities.map(([, subject]) => subject));
  const { rows } = await db.execute<{ kind: "id"; value: string; subject: string | null }>(sql`
    select 'id' as kind, id::text as value, null as subject from users
      where tenant_id = ${tenantId} and id = any(${of("id")}::uuid[])
    union all select 'email', address, null from emails
      where tenant_id = ${tenantId} and address = any(${of("email")}::text[])
    union all select 'username', username, null from usernames
      where tenant_id = ${tenantId} and username = any(${of("username")}::text[])
    union all select 'passkey', id, null from webauthn_credentials
      where tenant_id = ${tenantId} and id = any(${of("passkey")}::text[])
    union all select 'identity', i.provider, i.subject
      from unnest(${providers}::text[], ${subjects}::text[]) as given (provider, subject)
      join identities i on i.tenant_id = ${tenantId} and i.provider = given.provider and i.subject = given.subject`);
  return new Set(
    rows.map(({ kind, value, subject }) =>
      userKey(kind, subject === null ? value : JSON.stringify([value, subject])),
    ),
  );
}

/**
 * The columns of each exported table that are written from JSON, with their types. Other columns are the same for all
 * rows.
 */
const written = {
  users: {
    id: "uuid",
    name: "text",
    given_name: "text",
    family_name: "text",
    picture: "text",
    language: "text",
    public_metadata: "jsonb",
    private_metadata: "jsonb",
    unsafe_metadata: "jsonb",
    blocked_at: "timestamptz",
  },
  user_pictures: { user_id: "uuid", id: "uuid", data: "bytea" },
  emails: { user_id: "uuid", id: "uuid", address: "text", is_primary: "boolean", verified_at: "timestamptz" },
  usernames: { user_id: "uuid", id: "uuid", username: "text" },
  passwords: { user_id: "uuid", hash: "text" },
  webauthn_credentials: {
    user_id: "uuid",
    id: "text",
    public_key: "bytea",
    user_handle: "bytea",
    sign_count: "bigint",
    aaguid: "text",
    attestation_type: "text",
    transports: "text[]",
    backup_eligible: "boolean",
    backup_state: "boolean",
    user_verified: "boolean",
    mfa_only: "boolean",
    name: "text",
    last_used_at: "timestamptz",
  },
  totp_secrets: { user_id: "uuid", sealed_secret: "bytea", last_step: "bigint" },
  recovery_codes: { user_id: "uuid", key_id: "bytea", code_hash: "bytea" },
  identities: { user_id: "uuid", id: "uuid", provider: "text", subject: "text", email: "text" },
} as const satisfies Record<TableName<{ exported: { as: readonly string[] } }>, Record<string, string>>;

type Written = keyof typeof written;

/** The columns that no two users of a tenant have in common. */
const keyColumns: Partial<Record<Written, string[]>> = {
  users: ["id"],
  emails: ["address"],
  usernames: ["username"],
  webauthn_credentials: ["id"],
  identities: ["provider", "subject"],
};

function inOrder(rows: Record<string, string>[], keys: readonly string[]): object[] {
  const keyed = rows.map((row) => ({ row, key: keys.map((name) => row[name]).join("\0") }));
  return keyed.sort((one, other) => (one.key < other.key ? -1 : 1)).map(({ row }) => row);
}

/** Tables without a time of the last change. */
const withoutUpdate: ReadonlySet<string> = new Set(
  tables.filter((table) => !("updatedAt" in getTableColumns(table))).map(getTableName),
);

/**
 * Inserts users with everything that belongs to them, one statement for each table.
 *
 * @param now the time of rows that state none
 * @throws SQLSTATE 23505 if a key is taken, class 22 if a value cannot be stored
 */
export async function insertUsers(
  tx: Pick<Queryable, "execute">,
  tenantId: string,
  users: readonly UserRows[],
  now: Date,
): Promise<void> {
  const at = now.toISOString();
  const rows: Record<Written, object[]> = {
    users: users.map(({ user }) => user),
    user_pictures: users.flatMap(({ user, uploadedPicture }) =>
      uploadedPicture ? [{ ...uploadedPicture, user_id: user.id }] : [],
    ),
    emails: users.flatMap(({ user, emails }) =>
      emails.map((email) => ({
        ...email,
        user_id: user.id,
        verified_at: email.is_verified ? (email.verified_at ?? email.created_at ?? at) : null,
      })),
    ),
    usernames: users.flatMap(({ user, username }) =>
      username ? [{ ...username, user_id: user.id, created_at: user.created_at }] : [],
    ),
    passwords: users.flatMap(({ user, password }) =>
      password ? [{ hash: password.hash, user_id: user.id, created_at: password.set_at }] : [],
    ),
    webauthn_credentials: users.flatMap(({ user, credentials }) =>
      credentials.map((credential) => ({ ...credential, user_id: user.id })),
    ),
    totp_secrets: users.flatMap(({ user, totp }) => (totp ? [{ ...totp, user_id: user.id }] : [])),
    recovery_codes: users.flatMap(({ user, recoveryCodes }) =>
      recoveryCodes.map((code) => ({ ...code, user_id: user.id, created_at: user.created_at })),
    ),
    identities: users.flatMap(({ user, identities }) =>
      identities.map((identity) => ({ ...identity, user_id: user.id })),
    ),
  };
  // Imports at once wait for each other's keys in one order, so that none waits for one that waits for it.
  for (const [name, keys] of Object.entries(keyColumns) as [Written, string[]][])
    rows[name] = inOrder(rows[name] as Record<string, string>[], keys);
  // In the order of the foreign keys: users first.
  for (const name of Object.keys(written) as Written[])
    if (rows[name].length > 0) await tx.execute(insertOf(name, tenantId, rows[name], at));
}

function insertOf(name: Written, tenantId: string, rows: readonly object[], now: string): SQL {
  const columns = Object.keys(written[name]);
  const types = { ...written[name], created_at: "timestamptz", updated_at: "timestamptz" };
  const shape = Object.entries(types).map(([column, type]) => `${column} ${type}`);
  const times = withoutUpdate.has(name) ? ["created_at"] : ["created_at", "updated_at"];
  const updated = "coalesce(r.updated_at, r.created_at, given.now)";
  const values = [
    "given.tenant_id",
    ...columns.map((column) => `r.${column}`),
    "coalesce(r.created_at, given.now)",
    ...(times.length > 1 ? [updated] : []),
  ];
  return sql`
    insert into ${sql.raw(name)} (tenant_id, ${sql.raw([...columns, ...times].join(", "))})
    select ${sql.raw(values.join(", "))}
    from (select ${tenantId}::uuid as tenant_id, ${now}::timestamptz as now) given,
      json_to_recordset(${JSON.stringify(rows)}::json) as r (${sql.raw(shape.join(", "))})`;
}

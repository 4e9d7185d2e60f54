import { getTableColumns, getTableName, type SQL, sql } from "drizzle-orm";
import type { Queryable } from "#db/client";
import { tables } from "#db/tables";
import { movings } from "../methods/index.ts";
import type { ExportedTable, Moving } from "../methods/moving.ts";

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
  /** Of methods, by table. */
  credentials: Partial<Record<MovedTable, readonly Record<string, unknown>[]>>;
}

const everyMoving: readonly Moving[] = movings;

type MovedTable = (typeof movings)[number]["table"];

/** What one user of a tenant at most may have: a kind and a value. */
export type UserKey = `${string}:${string}`;

/** The kinds of keys: their columns, in the order of an index, and the reason to refuse a user. */
const keys: readonly (NonNullable<Moving["key"]> & { table: ExportedTable })[] = [
  { kind: "id", table: "users", columns: ["id"], taken: "a user with this id exists" },
  {
    kind: "email",
    table: "emails",
    columns: ["address"],
    taken: "an email address is in use, or listed twice",
  },
  { kind: "username", table: "usernames", columns: ["username"], taken: "the username is in use" },
  ...everyMoving.flatMap(({ table, key }) => (key ? [{ ...key, table }] : [])),
];

/** The keys of a user. */
export function keysOf(user: UserRows): UserKey[] {
  const rows = rowsByTable(user, null);
  return keys.flatMap(({ kind, table, columns }) =>
    (rows[table] ?? []).map(
      (row): UserKey => `${kind}:${keyValue(columns.map((name) => String(row[name])))}`,
    ),
  );
}

/** The reason of a user one of whose keys another user has. */
export function takenReason(key: UserKey): string {
  const of = keys.find(({ kind }) => key.startsWith(`${kind}:`));
  return of?.taken ?? "a unique value is in use";
}

const keyValue = (values: readonly string[]) =>
  values.length === 1 ? String(values[0]) : JSON.stringify(values);

/** Finds the keys that users of the tenant have, in one statement. */
export async function takenKeys(
  db: Pick<Queryable, "execute">,
  tenantId: string,
  of: readonly UserKey[],
): Promise<Set<UserKey>> {
  const selects = keys.map(({ kind, table, columns }) => {
    const types: Readonly<Record<string, string>> = written[table];
    const values = of.flatMap((key) => (key.startsWith(`${kind}:`) ? [key.slice(kind.length + 1)] : []));
    const lists = columns.map((name, index) => {
      const list =
        columns.length === 1 ? values : values.map((value) => (JSON.parse(value) as string[])[index]);
      return sql`${sql.param(list)}::${sql.raw(`${types[name]}[]`)}`;
    });
    const matches = columns.map((name) => `o.${name} = given.${name}`).join(" and ");
    return sql`
      select ${kind} as kind, array[${sql.raw(columns.map((name) => `o.${name}::text`).join(", "))}] as value
      from unnest(${sql.join(lists, sql`, `)}) as given (${sql.raw(columns.join(", "))})
      join ${sql.raw(table)} o on o.tenant_id = ${tenantId} and ${sql.raw(matches)}`;
  });
  const { rows } = await db.execute<{ kind: string; value: string[] }>(sql.join(selects, sql` union all `));
  return new Set(rows.map(({ kind, value }): UserKey => `${kind}:${keyValue(value)}`));
}

/**
 * The columns of each exported table that are written from JSON, with their types, in the order of the foreign keys: users
 * first. Other columns are the same for all rows.
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
  ...(Object.fromEntries(
    everyMoving.map(({ table, columns }) => [table, { user_id: "uuid", ...columns }]),
  ) as unknown as Record<MovedTable, Record<string, string>>),
} as const satisfies Record<ExportedTable, Record<string, string>>;

function inOrder(rows: readonly Row[], columns: readonly string[]): Row[] {
  const keyed = rows.map((row) => ({ row, key: columns.map((name) => row[name]).join("\0") }));
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
  const rows = users.map((user) => rowsByTable(user, at));
  for (const table of Object.keys(written) as ExportedTable[]) {
    const all = rows.flatMap((of) => of[table] ?? []);
    // Imports at once wait for each other's keys in one order, so that none waits for one that waits for it.
    const key = keys.find((of) => of.table === table);
    if (all.length > 0)
      await tx.execute(insertOf(table, tenantId, key ? inOrder(all, key.columns) : all, at));
  }
}

type Row = Readonly<Record<string, unknown>>;

/** The rows of a user. @param at the time of a verification that states none */
function rowsByTable(
  { user, uploadedPicture, emails, username, credentials }: UserRows,
  at: string | null,
): Partial<Record<ExportedTable, readonly Row[]>> {
  const ofUser = (rows: readonly Row[]) => rows.map((row) => ({ ...row, user_id: user.id }));
  return {
    users: [user],
    user_pictures: ofUser(uploadedPicture ? [uploadedPicture] : []),
    emails: ofUser(
      emails.map((email) => ({
        ...email,
        verified_at: email.is_verified ? (email.verified_at ?? email.created_at ?? at) : null,
      })),
    ),
    usernames: ofUser(username ? [{ ...username, created_at: user.created_at }] : []),
    ...Object.fromEntries(Object.entries(credentials).map(([table, rows]) => [table, ofUser(rows)])),
  };
}

function insertOf(name: ExportedTable, tenantId: string, rows: readonly object[], now: string): SQL {
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

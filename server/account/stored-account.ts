import { and, eq, getTableName, type SQL, sql } from "drizzle-orm";
import { type ReadOnly, schema } from "#db/client";
import { type JsonRow, rowOfJson } from "#db/json-row";
import type { Part } from "#db/part";
import { prepared } from "#db/prepared";
import { withValues } from "#db/with-values";
import { type SingleMethod, singleMethods } from "../methods/index.ts";
import type { Identity } from "./linked-identities.ts";

const { emails, phoneNumbers, usernames, users, webauthnCredentials } = schema;

/** An account as stored, independent of the configuration. */
export interface StoredAccount {
  user: typeof users.$inferSelect;
  username: typeof usernames.$inferSelect | null;
  phone: typeof phoneNumbers.$inferSelect | null;
  /** Primary address first. */
  emails: (typeof emails.$inferSelect)[];
  /** Oldest first. */
  credentials: (typeof webauthnCredentials.$inferSelect)[];
  /** Oldest first. */
  identities: Identity[];
  /** Methods of which an account has at most one. */
  has: Record<SingleMethod["fact"], boolean>;
}

/** SQL of a row of `users` with all that belongs to it, as JSON. @param tenant SQL of the id of the tenant */
function accountJson(tenant: string): string {
  const owned = (table: string, order: string) => `(
  select coalesce(json_agg(o order by ${order}), '[]') from ${table} o
  where o.tenant_id = ${tenant} and o.user_id = users.id)`;
  const owns = (table: string) =>
    `exists (select 1 from ${table} o where o.tenant_id = ${tenant} and o.user_id = users.id)`;
  return `json_build_object(
  'user', row_to_json(users),
  'usernames', ${owned("usernames", "o.created_at")},
  'phones', ${owned("phone_numbers", "o.created_at")},
  'emails', ${owned("emails", "o.is_primary desc, o.created_at, o.id")},
  'credentials', ${owned("webauthn_credentials", "o.created_at, o.id")},
  'identities', ${owned("identities", "o.created_at, o.id")},
  'has', json_build_object(${singleMethods
    .map(({ fact, tables: [table] }) => `'${fact}', ${owns(getTableName(schema[table]))}`)
    .join(", ")}))`;
}

/** What the SQL above returns. */
export interface AccountJson extends Pick<StoredAccount, "identities" | "has"> {
  user: JsonRow;
  usernames: JsonRow[];
  phones: JsonRow[];
  emails: JsonRow[];
  credentials: JsonRow[];
}

const selectAccount = prepared("account", (db) =>
  db
    .select({
      account: withValues(accountJson("{tenantId}"), {
        tenantId: sql.placeholder("tenantId"),
      }) as SQL<AccountJson>,
    })
    .from(users)
    .where(and(eq(users.tenantId, sql.placeholder("tenantId")), eq(users.id, sql.placeholder("userId")))),
);

/**
 * Reads an account.
 *
 * @param db a pool, or the transaction that has just written the account
 * @returns null if the account does not exist
 */
export async function readAccount(
  db: ReadOnly,
  tenantId: string,
  userId: string,
): Promise<StoredAccount | null> {
  const [row] = await selectAccount(db).execute({ tenantId, userId });
  return row ? storedAccount(row.account) : null;
}

/** The part of a statement that reads an account; `storedAccount` converts what it returns. */
export function accountPart(tenantId: string, userId: string): Part {
  return {
    name: "account",
    text: `account as (select ${accountJson("$1")} as found from users where tenant_id = $1 and id = $2)`,
    values: [tenantId, userId],
    returns: "(select found from account)",
  };
}

/** Converts the account that `accountPart` returns. */
export function storedAccount(json: AccountJson): StoredAccount {
  const [username] = json.usernames;
  const [phone] = json.phones;
  return {
    user: rowOfJson(users, json.user),
    username: username ? rowOfJson(usernames, username) : null,
    phone: phone ? rowOfJson(phoneNumbers, phone) : null,
    emails: json.emails.map((row) => rowOfJson(emails, row)),
    credentials: json.credentials.map((row) => rowOfJson(webauthnCredentials, row)),
    identities: json.identities.map(({ id, provider, subject, email }) => ({ id, provider, subject, email })),
    has: json.has,
  };
}

import { type SQL, sql } from "drizzle-orm";
import type { Databases } from "#db/client";
import type { Tenant } from "../config/tenant.ts";
import { isUuid } from "../lib/uuid.ts";
import type { MethodName } from "../methods/index.ts";
import { type UserObject, userObject } from "../objects/user-object.ts";

/** Users that a search or a filter finds and counts at most: a common one then costs no more than a rare one. */
export const MAX_SEARCH_RESULTS = 10_000;

/** What users are sorted by; the id decides between equal ones. */
export const userOrders = ["created_at", "last_sign_in_at"] as const;

/** Which users to list; all conditions must hold. */
export interface UserFilter {
  /** An id, phone number or subject at a provider in full, or the beginning of an email, username, name or family name. */
  text?: string | undefined;
  /** A part of an email. */
  email?: string | undefined;
  /** A part of the username. */
  username?: string | undefined;
  /** A part of an email or of the username. */
  emailOrUsername?: string | undefined;
  /** A part of the name. */
  name?: string | undefined;
  /** The phone number, in the international form. */
  phone?: string | undefined;
  ids?: readonly string[] | undefined;
  /** An identity provider that the user is linked to. */
  provider?: string | undefined;
  /** The identifier of the user at a provider. */
  subject?: string | undefined;
  isBlocked?: boolean | undefined;
  /** Whether an email of the user is verified. */
  isVerified?: boolean | undefined;
  /** Methods that the user has, all of them. */
  methods?: readonly MethodName[] | undefined;
  /** The bounds of times are exclusive. */
  createdAfter?: Date | undefined;
  createdBefore?: Date | undefined;
  lastSignInAfter?: Date | undefined;
  lastSignInBefore?: Date | undefined;
}

/** A page of users: by its distance from the first one, or after a user of the page before. */
export interface UserPage {
  limit: number;
  order: "asc" | "desc";
  /** Default: `created_at`. Users who have not signed in count as the earliest. */
  by?: (typeof userOrders)[number];
  offset?: number;
  /** `next` of the page before; empty for the first page. */
  after?: string | undefined;
}

/** What `next` may be, or nothing: milliseconds since 1970, or `never`, and an id. */
export const userCursor = /^$|^(never|-?\d{1,14})_([\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12})$/;

/**
 * Lists users, and counts them. The rows are built only for the page, and nothing is read beyond the last one.
 *
 * A search by a part of a text reads every address, in half a second for a million, as no index of PostgreSQL's core
 * supports it; one by `text` follows indexes. A page by `after` costs the same however far it is from the first one.
 *
 * @returns `total`: all matching users; of a search or filter at most `MAX_SEARCH_RESULTS`. `next`: `after` of the next
 *   page; null for the last one
 */
export async function listUsers(
  { runtime, tenant }: { runtime: Databases; tenant: Tenant },
  filter: UserFilter,
  { limit: size, order: direction, by = "created_at", offset = 0, after = "" }: UserPage,
): Promise<{ users: UserObject[]; total: number; next: string | null }> {
  const { read } = runtime.database;
  const isByCreation = by === "created_at";
  const position = positionOf(after);
  const { text } = filter;
  const searched = text === undefined ? [] : [await foundBy(read, tenant.id, text, isByCreation)];
  const matches = sql.join(
    [sql`u.tenant_id = ${tenant.id}`, ...conditions(tenant.id, filter), ...searched],
    sql` and `,
  );
  const isFiltered = Object.values(filter).some((value) => value !== undefined);
  const counted = await read.execute<{ total: number }>(
    isFiltered
      ? sql`select count(*)::int as total from (
          select from users u where ${matches} limit ${MAX_SEARCH_RESULTS}) as found`
      : sql`select count(*)::int as total from users u where ${matches}`,
  );
  const total = counted.rows[0]?.total ?? 0;
  const limit = Math.min(size, total - offset);
  if (limit <= 0) return { users: [], total, next: null };
  const key = isByCreation ? sql`created_at` : sql`coalesce(last_sign_in_at, '-infinity')`;
  const order = sql.raw(direction);
  const beyond = sql.raw(direction === "asc" ? ">" : "<");
  const rest = position ? sql`where (${key}, id) ${beyond} (${position.at}, ${position.id}::uuid)` : sql``;
  // Rare matches are collected and sorted; the planner would walk through all users by time for a short page of them.
  const isRare = isFiltered && total < MAX_SEARCH_RESULTS;
  // One user more than the page tells whether there is a next one.
  const { rows } = await read.execute<{ user: UserObject; cursor: string }>(sql`
    with matched as ${sql.raw(isRare ? "materialized" : "not materialized")} (
      select u.tenant_id, u.id, u.created_at, u.last_sign_in_at from users u where ${matches}),
    page as materialized (
      select tenant_id, id, ${key} as position from matched ${rest}
      order by ${key} ${order}, id ${order} limit ${limit + 1} offset ${offset})
    select ${userObject(tenant.config, "u")} as "user",
      case when position = '-infinity' then 'never' else (extract(epoch from position) * 1000)::bigint::text end
        || '_' || u.id as cursor
    from page join users u using (tenant_id, id)
    order by position ${order}, u.id ${order}`);
  const users = rows.slice(0, limit).map(({ user }) => user);
  return { users, total, next: rows.length > limit ? (rows[limit - 1]?.cursor ?? null) : null };
}

function positionOf(after: string): { at: SQL; id: string } | null {
  const [, at, id = ""] = userCursor.exec(after) ?? [];
  if (at === undefined) return null;
  return {
    at: at === "never" ? sql`'-infinity'::timestamptz` : sql`${new Date(Number(at))}::timestamptz`,
    id,
  };
}

/** How the credentials of each method are found: the table of users' rows, and which of them. */
const rowsOfMethods: Record<MethodName, SQL> = {
  password: owned("passwords"),
  passcode: owned("emails"),
  sms: owned("phone_numbers"),
  passkey: owned("webauthn_credentials", sql`not o.mfa_only`),
  third_party: owned("identities"),
  totp: owned("totp_secrets"),
  security_key: owned("webauthn_credentials", sql`o.mfa_only`),
  authenticator: sql`exists (select from authenticator_devices o where o.tenant_id = u.tenant_id and o.user_id = u.id::text)`,
  recovery_code: owned("recovery_codes"),
};

function conditions(
  tenantId: string,
  { email, username, emailOrUsername, ids, methods = [], ...filter }: UserFilter,
): SQL[] {
  const { name, phone, provider, subject, isBlocked, isVerified } = filter;
  const { createdAfter, createdBefore, lastSignInAfter, lastSignInBefore } = filter;
  const hasVerified = owned("emails", sql`o.verified_at is not null`);
  const given: [unknown, () => SQL][] = [
    [ids, () => sql`u.id = any(${sql.param([...(ids ?? [])])}::uuid[])`],
    [email, () => owned("emails", containing("address", email))],
    [username, () => owned("usernames", containing("username", username))],
    [
      emailOrUsername,
      () =>
        sql`(${owned("emails", containing("address", emailOrUsername))} or ${owned("usernames", containing("username", emailOrUsername))})`,
    ],
    [name, () => sql`lower(u.name) like ${containingPattern(name)}`],
    [phone, () => owned("phone_numbers", sql`o.number = ${phone?.replace(/[^+\d]/g, "")}`)],
    [
      provider ?? subject,
      () =>
        owned(
          "identities",
          provider === undefined
            ? sql`o.provider in ${providersOf(tenantId)}`
            : sql`o.provider = ${provider}`,
          ...(subject === undefined ? [] : [sql`o.subject = ${subject}`]),
        ),
    ],
    [isBlocked, () => (isBlocked ? sql`u.blocked_at is not null` : sql`u.blocked_at is null`)],
    [isVerified, () => (isVerified ? hasVerified : sql`not ${hasVerified}`)],
    [createdAfter, () => sql`u.created_at > ${createdAfter}`],
    [createdBefore, () => sql`u.created_at < ${createdBefore}`],
    [lastSignInAfter, () => sql`u.last_sign_in_at > ${lastSignInAfter}`],
    [lastSignInBefore, () => sql`u.last_sign_in_at < ${lastSignInBefore}`],
  ];
  return [
    ...given.flatMap(([value, condition]) => (value === undefined ? [] : [condition()])),
    ...[...new Set(methods)].map((method) => rowsOfMethods[method]),
  ];
}

/**
 * The providers that users are linked to, of which there are few: the index of subjects begins with them. Each is looked
 * up in the index as the next one after the one before.
 */
const providersOf = (tenantId: string) => sql`(
  with recursive known as (
    (select provider from identities where tenant_id = ${tenantId} order by provider limit 1)
    union all
    select (select i.provider from identities i
      where i.tenant_id = ${tenantId} and i.provider > known.provider order by i.provider limit 1)
    from known where known.provider is not null)
  select provider from known where provider is not null)`;

/**
 * Returns the condition that a user is found by a text, in the form that is read fastest: by the ids of those that are
 * found, or of many in the order of an index, while the users are passed in it.
 *
 * @param isByCreation whether users are listed in the order of an index
 */
async function foundBy(
  read: Databases["database"]["read"],
  tenantId: string,
  text: string,
  isByCreation: boolean,
): Promise<SQL> {
  const beginning = `${escaped(text.toLowerCase())}%`;
  const digits = text.replace(/[\s().-]/g, "");
  const where = {
    emails: sql`o.address like ${beginning}`,
    usernames: sql`o.username like ${beginning}`,
    phone_numbers: /^\+\d{7,15}$/.test(digits) ? sql`o.number = ${digits}` : null,
    identities: sql`o.subject = ${text} and o.provider in ${providersOf(tenantId)}`,
  };
  const names = sql`(u.name is not null and lower(u.name) like ${beginning}
    or u.family_name is not null and lower(u.family_name) like ${beginning})`;
  const isId = isUuid(text) ? sql`u.id = ${text}::uuid` : sql`false`;
  const belongings = Object.entries(where).flatMap(([table, condition]) =>
    condition ? [{ table, condition }] : [],
  );
  const branches = [
    ...belongings.map(
      ({ table, condition }) =>
        sql`(select o.user_id as id from ${sql.identifier(table)} o where o.tenant_id = ${tenantId} and ${condition} limit ${MAX_SEARCH_RESULTS})`,
    ),
    ...[sql`lower(u.name)`, sql`lower(u.family_name)`].map(
      (column) =>
        sql`(select u.id from users u where u.tenant_id = ${tenantId} and ${column} like ${beginning} limit ${MAX_SEARCH_RESULTS})`,
    ),
    ...(isUuid(text) ? [sql`(select ${text}::uuid as id)`] : []),
  ];
  const every = sql.join(branches, sql` union all `);
  const byIds = sql`u.id in (${every})`;
  if (!isByCreation) return byIds;
  const counted = await read.execute<{ total: number }>(
    sql`select count(*)::int as total from (${every}) as found`,
  );
  if ((counted.rows[0]?.total ?? 0) < MAX_SEARCH_RESULTS) return byIds;
  const ors = [...belongings.map(({ table, condition }) => owned(table, condition)), names, isId];
  return sql`(${sql.join(ors, sql` or `)})`;
}

const escaped = (text: string) => text.replaceAll(/[\\%_]/g, "\\$&");

/** Matches a part of a text in lower case, as addresses and usernames are stored. */
const containingPattern = (part = "") => `%${escaped(part.toLowerCase())}%`;

const containing = (column: "address" | "username", part: string | undefined): SQL =>
  sql`o.${sql.identifier(column)} like ${containingPattern(part)}`;

/** That a user has a row of a table. */
function owned(table: string, ...which: SQL[]): SQL {
  const rows = [sql`o.tenant_id = u.tenant_id`, sql`o.user_id = u.id`, ...which];
  return sql`exists (select from ${sql.identifier(table)} o where ${sql.join(rows, sql` and `)})`;
}

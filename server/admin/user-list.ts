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

/** Users at the begin of a list among whom a page of a common filter is looked for first. */
const NEAR: Record<(typeof userOrders)[number], number> = { created_at: 20_000, last_sign_in_at: 5_000 };

/**
 * What a statement may take that has to pass all users: processes beside its own to sort them, or memory for the ids of
 * those whom a filter finds, which it looks up one by one otherwise. Not both, since each process would take the memory.
 */
const TO_SORT = sql`set local max_parallel_workers_per_gather = 2`;
const TO_FILTER = sql`select set_config('work_mem', '64MB', true),
  set_config('max_parallel_workers_per_gather', '0', true)`;

/**
 * Lists users, and counts them. The rows are built only for the page, and nothing is read beyond the last one.
 *
 * A search by a part of a text reads every address, in a quarter of a second for a million, as no index of PostgreSQL's
 * core supports it; one by `text` follows indexes. A page by `after` costs the same however far it is from the first one.
 *
 * @returns `total`: all matching users; of a search or filter at most `MAX_SEARCH_RESULTS`. `next`: `after` of the next
 *   page; null for the last one
 */
export async function listUsers(
  { runtime, tenant }: { runtime: Databases; tenant: Tenant },
  filter: UserFilter,
  page: UserPage,
): Promise<{ users: UserObject[]; total: number; next: string | null }> {
  const { read } = runtime.database;
  const list = { ...orderOf(page), tenant };
  if (Object.values(filter).every((value) => value === undefined)) {
    const users = sql`users u where u.tenant_id = ${tenant.id}`;
    const query = pageOf(list, sql`(select u.* from ${users})`);
    const counted = await read.execute<{ total: number }>(sql`select count(*)::int as total from ${users}`);
    const { rows } = await (list.isByCreation ? read.execute<Row>(query) : readWhole(read, query, TO_SORT));
    return listed(rows, counted.rows[0]?.total ?? 0, page);
  }
  const { text } = filter;
  const searched = text === undefined ? [] : [await foundBy(read, tenant.id, text)];
  const matching = (owning: Owning) =>
    sql.join(
      [sql`u.tenant_id = ${tenant.id}`, ...conditions(tenant.id, filter, owning), ...searched],
      sql` and `,
    );
  const { total, rows } = await fewMatches(read, list, matching(owned));
  if (total <= list.offset) return listed([], total, page);
  return listed(rows ?? (await manyMatches(read, list, matching, text !== undefined)), total, page);
}

/** Counts the users whom a filter finds, and reads the page if there are fewer than a list may have. */
async function fewMatches(
  read: Databases["database"]["read"],
  list: List,
  matches: SQL,
): Promise<{ total: number; rows: Row[] | null }> {
  // `offset 0` keeps the planner from joining the few with all users.
  const few = sql`(select u.* from found cross join lateral
      (select * from users u where u.tenant_id = ${list.tenant.id} and u.id = found.id offset 0) as u
    where (select total from counted) < ${MAX_SEARCH_RESULTS})`;
  const { rows } = await read.execute<(Row | { user: null }) & { total: number }>(sql`
    with found as materialized (
      select u.id from users u where ${matches} limit ${MAX_SEARCH_RESULTS}),
    counted as (select count(*)::int as total from found)
    select total, listed.* from counted left join (${pageOf(list, few)}) as listed on true
    order by position ${list.direction}, id ${list.direction}`);
  const total = rows[0]?.total ?? 0;
  const found = rows.flatMap((row) => (row.user === null ? [] : [row as Row]));
  return { total, rows: total < MAX_SEARCH_RESULTS ? found : null };
}

/**
 * Reads the page of a filter that finds many users. Most often they are near its begin, where an index finds them. No index
 * is in the order of sign-ins: to look near costs a sort of all there, which is less than to search all for a text.
 */
async function manyMatches(
  read: Databases["database"]["read"],
  list: List,
  matching: (owning: Owning) => SQL,
  isSearch: boolean,
): Promise<Row[]> {
  if (list.isByCreation || isSearch) {
    const { tenant, by, key, direction, rest } = list;
    const near = sql`(select * from (
      select * from (select * from users where tenant_id = ${tenant.id}) as listed ${rest}
      order by ${key} ${direction}, id ${direction} limit ${NEAR[by]}) as u where ${matching(owned)})`;
    const query = pageOf(list, near);
    const { rows } = await (list.isByCreation ? read.execute<Row>(query) : readWhole(read, query, TO_SORT));
    if (rows.length > list.limit) return rows;
  }
  const { rows } = await readWhole(
    read,
    pageOf(list, sql`(select u.* from users u where ${matching(ownedByMany)})`),
    TO_FILTER,
  );
  return rows;
}

const readWhole = (
  read: Databases["database"]["read"],
  query: SQL,
  means: typeof TO_SORT | typeof TO_FILTER,
) =>
  read.transaction(async (tx) => {
    await tx.execute(means);
    return tx.execute<Row>(query);
  });

/** How a page is cut out of a list. */
interface List {
  tenant: Tenant;
  limit: number;
  offset: number;
  by: (typeof userOrders)[number];
  isByCreation: boolean;
  key: SQL;
  direction: SQL;
  /** Where the page begins by `after`; empty for the first one. */
  rest: SQL;
}

interface Row extends Record<string, unknown> {
  user: UserObject;
  /** `after` of the page that follows this user. */
  cursor: string;
}

function orderOf({
  limit,
  order,
  by = "created_at",
  offset = 0,
  after = "",
}: UserPage): Omit<List, "tenant"> {
  const isByCreation = by === "created_at";
  const key = isByCreation ? sql`created_at` : sql`coalesce(last_sign_in_at, '-infinity')`;
  const position = positionOf(after);
  const beyond = sql.raw(order === "asc" ? ">" : "<");
  const rest = position ? sql`where (${key}, id) ${beyond} (${position.at}, ${position.id}::uuid)` : sql``;
  return { limit, offset, by, isByCreation, key, direction: sql.raw(order), rest };
}

/**
 * A query for a page of some users, and one user more: that tells whether there is a next page.
 *
 * @param source a subquery for rows of `users`
 */
function pageOf({ tenant, key, direction, rest, limit, offset }: List, source: SQL): SQL {
  return sql`
    select ${userObject(tenant, "u")} as "user",
      case when position = '-infinity' then 'never' else (extract(epoch from position) * 1000)::bigint::text end
        || '_' || u.id as cursor, position, u.id
    from (
      select id, ${key} as position from ${source} as matched ${rest}
      order by ${key} ${direction}, id ${direction} limit ${limit + 1} offset ${offset}
    ) as page join users u on u.tenant_id = ${tenant.id} and u.id = page.id
    order by position ${direction}, u.id ${direction}`;
}

/** @param total of the list, which a page does not go beyond */
function listed(rows: readonly Row[], total: number, { limit: size, offset = 0 }: UserPage) {
  const limit = Math.max(0, Math.min(size, total - offset));
  return {
    users: rows.slice(0, limit).map(({ user }) => user),
    total,
    next: rows.length > limit ? (rows[limit - 1]?.cursor ?? null) : null,
  };
}

function positionOf(after: string): { at: SQL; id: string } | null {
  const [, at, id = ""] = userCursor.exec(after) ?? [];
  if (at === undefined) return null;
  return {
    at: at === "never" ? sql`'-infinity'::timestamptz` : sql`${new Date(Number(at))}::timestamptz`,
    id,
  };
}

/** The rows that show that a user has a method: their table, and which of them. */
const rowsOfMethods: Record<MethodName, { table: string; which?: SQL; userId?: SQL }> = {
  password: { table: "passwords" },
  passcode: { table: "emails" },
  sms: { table: "phone_numbers" },
  passkey: { table: "webauthn_credentials", which: sql`not o.mfa_only` },
  third_party: { table: "identities" },
  totp: { table: "totp_secrets" },
  security_key: { table: "webauthn_credentials", which: sql`o.mfa_only` },
  authenticator: { table: "authenticator_devices", userId: sql`u.id::text` },
  recovery_code: { table: "recovery_codes" },
};

function conditions(
  tenantId: string,
  { email, username, emailOrUsername, ids, methods = [], ...filter }: UserFilter,
  owning: Owning,
): SQL[] {
  const owned = (...row: Parameters<typeof owning> extends [string, ...infer Row] ? Row : never) =>
    owning(tenantId, ...row);
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
          sql`${provider === undefined ? sql`o.provider in ${providersOf(tenantId)}` : sql`o.provider = ${provider}`}
            and ${subject === undefined ? sql`true` : sql`o.subject = ${subject}`}`,
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
    ...[...new Set(methods)].map((method) => {
      const { table, which = sql`true`, userId } = rowsOfMethods[method];
      return owned(table, which, userId);
    }),
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
 * found, or, of many, by what is known of each user that is passed.
 */
async function foundBy(read: Databases["database"]["read"], tenantId: string, text: string): Promise<SQL> {
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
  const counted = await read.execute<{ total: number }>(
    sql`select count(*)::int as total from (${every}) as found`,
  );
  if ((counted.rows[0]?.total ?? 0) < MAX_SEARCH_RESULTS) return byIds;
  const ors = [...belongings.map(({ table, condition }) => owned(tenantId, table, condition)), names, isId];
  return sql`(${sql.join(ors, sql` or `)})`;
}

const escaped = (text: string) => text.replaceAll(/[\\%_]/g, "\\$&");

/** Matches a part of a text in lower case, as addresses and usernames are stored. */
const containingPattern = (part = "") => `%${escaped(part.toLowerCase())}%`;

const containing = (column: "address" | "username", part: string | undefined): SQL =>
  sql`o.${sql.identifier(column)} like ${containingPattern(part)}`;

/** The condition that a user of a tenant has a row of a table. @param which of the rows `o` @param userId as the table has it */
type Owning = (tenantId: string, table: string, which: SQL, userId?: SQL) => SQL;

const owned: Owning = (tenantId, table, which, userId = sql`u.id`) =>
  sql`exists (select 1 from ${sql.identifier(table)} o where o.tenant_id = ${tenantId} and o.user_id = ${userId} and ${which})`;

/**
 * The same for many users who are passed in the order of an index: what is no condition of its own becomes no join, and
 * PostgreSQL then reads the rows once, if their ids fit into its memory.
 */
const ownedByMany: Owning = (...row) => sql`(${owned(...row)}) is true`;

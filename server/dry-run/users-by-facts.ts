import { type SQL, sql } from "drizzle-orm";
import type { Database } from "#db/client";
import { type FactRows, factRows } from "#db/schema/users";
import { identifierFacts, identifierKinds } from "../identity/identifiers.ts";
import { noMethods } from "../methods/index.ts";
import type { MethodFacts } from "../methods/method.ts";

/**
 * Users by what they have. The facts of a user are the bits of one number, so that PostgreSQL counts the users with equal
 * facts, and what judges them does not grow with their number. Blocked users are left out.
 */

/** Reads many rows. */
export type Reading = Pick<Database["read"], "execute" | "select" | "selectDistinct">;

/** The providers whose identities count, under each of two configurations. */
export interface EnabledProviders {
  former: readonly string[];
  changed: readonly string[];
}

export type Side = keyof EnabledProviders;

type Fact = keyof typeof factRows;

/** The compiler asks for the rows of each fact. */
const rowsOfFacts: Record<keyof MethodFacts, FactRows> = factRows;

const facts = Object.keys(rowsOfFacts).filter((name) => name !== "hasIdentity") as Fact[];

/** The bits of the facts, and of an identity that counts under each configuration. */
const bits = Object.fromEntries(
  [...facts, "former", "changed"].map((name, position) => [name, 1 << (position + 1)]),
) as Record<Fact | Side, number>;

/** The bit that every user who is not blocked has. */
const ACCOUNT = 1;

/** Returns what users have whose facts are the bits of a number. Conditions compare no identifier with another one. */
export function factsOf(key: number, side: Side): MethodFacts {
  const has = (name: Fact | Side) => (key & bits[name]) !== 0;
  const present = Object.fromEntries(facts.map((name) => [name, has(name)])) as Record<Fact, boolean>;
  const names = identifierKinds.map((kind) => [kind, present[kind] ? "" : undefined]);
  const named = identifierFacts({ ...present, ...Object.fromEntries(names) });
  return { ...noMethods, ...present, hasIdentity: has(side), ...named };
}

/** A condition on the user of a row, such as that its id is within bounds. */
type Within = (user: SQL) => SQL;

/** SQL of the users of a tenant with the numbers of their facts, as rows of `user_id` and `key`. */
function numbered(tenantId: string, providers: EnabledProviders, within: Within): SQL {
  const sources = new Map<string, { table: string; user: string; bits: SQL[] }>();
  const add = ({ table, user = "o.user_id", condition = "true" }: FactRows, bit: number, and = sql``) => {
    const source = sources.get(`${table} ${user}`) ?? { table, user, bits: [] };
    source.bits.push(sql`case when ${sql.raw(condition)}${and} then ${sql.raw(String(bit))} else 0 end`);
    sources.set(`${table} ${user}`, source);
  };
  for (const name of facts) add(rowsOfFacts[name], bits[name]);
  for (const side of ["former", "changed"] as const)
    add(
      rowsOfFacts.hasIdentity,
      bits[side],
      sql` and o.provider = any (${sql.param(providers[side])}::text[])`,
    );
  const id = sql.raw("o.id");
  const accounts = sql`select ${id} as user_id, ${sql.raw(String(ACCOUNT))} as bits from users o
    where o.tenant_id = ${tenantId} and o.blocked_at is null and ${within(id)}`;
  const others = [...sources.values()].map((source) => {
    const user = sql.raw(source.user);
    return sql`select ${user}, ${sql.join(source.bits, sql` | `)} from ${sql.raw(source.table)} o
      where o.tenant_id = ${tenantId} and ${within(user)}`;
  });
  return sql`select user_id, bit_or(bits) as key from (${sql.join([accounts, ...others], sql` union all `)}) facts
    group by user_id having bit_or(bits) & ${sql.raw(String(ACCOUNT))} <> 0`;
}

/** Users with equal facts. */
export interface FactGroup {
  key: number;
  count: number;
  /** Ids of one or two of them. */
  examples: string[];
}

/**
 * Reads the users of a tenant in parts, a statement each: few rows of each table are sorted at a time, and others get
 * their turn in between.
 *
 * @param size accounts of a part, the blocked ones among them
 * @param select makes the rows of a part, of the SQL of its users with their numbers
 */
async function* inParts<Row extends object>(
  db: Reading,
  tenantId: string,
  providers: EnabledProviders,
  size: number,
  select: (users: SQL) => SQL,
): AsyncGenerator<Row[], void> {
  for (let from: string | null = null, isFirst = true; isFirst || from !== null; isFirst = false) {
    const after = (user: SQL) => (from === null ? sql`true` : sql`${user} > ${from}::uuid`);
    const users = numbered(
      tenantId,
      providers,
      (user) => sql`${after(user)} and ${user} <= coalesce((select id from bound), ${LAST_ID}::uuid)`,
    );
    const { rows } = await db.execute<Bounded>(sql`
      with bound as materialized (
        select o.id from users o where o.tenant_id = ${tenantId} and ${after(sql.raw("o.id"))}
        order by o.id offset ${size - 1} limit 1)
      select (select id from bound) as bound, part.*
      from (select 1) one left join (select true as found, selected.* from (${select(users)}) selected) part on true`);
    from = rows[0]?.bound ?? null;
    yield rows.filter(({ found }) => found).map(({ bound: _, found: __, ...row }) => row as unknown as Row);
  }
}

/** A row of a part of the users. */
type Bounded = {
  /** The id of the last account of the part; null if no account comes after it. */
  bound: string | null;
  /** Null in the only row of a part without users. */
  found: boolean | null;
};

const LAST_ID = "ffffffff-ffff-ffff-ffff-ffffffffffff";

/** Accounts that one statement counts. More would not fit into the memory that PostgreSQL sorts in by default. */
const COUNTED_AT_ONCE = 100_000;

/** Counts the users of a tenant by their facts. Each part of them is yielded for itself. */
export function groupsByFacts(
  db: Reading,
  tenantId: string,
  providers: EnabledProviders,
): AsyncGenerator<FactGroup[], void> {
  const parts = inParts<{ key: number; count: number; first: string; last: string }>(
    db,
    tenantId,
    providers,
    COUNTED_AT_ONCE,
    // Not a list of ids: the rows of a group would be sorted for it.
    (users) => sql`select key, count(*)::int as count, min(user_id::text) as first, max(user_id::text) as last
      from (${users}) users group by key`,
  );
  return mapped(parts, ({ key, count, first, last }) => ({
    key,
    count,
    examples: [...new Set([first, last])],
  }));
}

/** A user as it is listed. */
export interface ListedUser {
  id: string;
  email: string | null;
  username: string | null;
  phone: string | null;
}

/** Users that one statement of a list reads. */
const LISTED_AT_ONCE = 10_000;

/** Lists the users of a tenant whose facts are one of these numbers, in the order of their ids. */
export function usersWithFacts(
  db: Reading,
  tenantId: string,
  providers: EnabledProviders,
  keys: readonly number[],
): AsyncGenerator<ListedUser[], void> {
  return inParts<ListedUser>(
    db,
    tenantId,
    providers,
    LISTED_AT_ONCE,
    (users) =>
      sql`select ${listed(tenantId, users)} where key = any (${sql.param(keys)}::int[]) order by users.user_id`,
  );
}

const listed = (
  tenantId: string,
  users: SQL,
) => sql`users.user_id as id, e.address as email, n.username, p.number as phone
  from (${users}) users
  left join emails e on e.tenant_id = ${tenantId} and e.user_id = users.user_id and e.is_primary
  left join usernames n on n.tenant_id = ${tenantId} and n.user_id = users.user_id
  left join phone_numbers p on p.tenant_id = ${tenantId} and p.user_id = users.user_id`;

/** Reads some users of a tenant with their numbers, as far as they exist and are not blocked. */
export async function usersById(
  db: Reading,
  tenantId: string,
  providers: EnabledProviders,
  ids: readonly string[],
): Promise<(ListedUser & { key: number })[]> {
  const users = numbered(tenantId, providers, (user) => sql`${user} = any (${sql.param(ids)}::uuid[])`);
  const { rows } = await db.execute<ListedUser & { key: number } & Record<string, unknown>>(
    sql`select key, ${listed(tenantId, users)}`,
  );
  return rows;
}

async function* mapped<From, To>(
  parts: AsyncGenerator<From[], void>,
  map: (row: From) => To,
): AsyncGenerator<To[], void> {
  for await (const rows of parts) yield rows.map(map);
}

import { type SQL, sql } from "drizzle-orm";
import type { Databases } from "#db/client";
import type { Tenant } from "../config/tenant.ts";
import { type UserObject, userObject } from "../objects/user-object.ts";

/** Users that a search finds and counts at most: a common text then costs no more than a rare one. */
export const MAX_SEARCH_RESULTS = 10_000;

/** Which users to list; all conditions must hold. */
export interface UserFilter {
  /** A part of an email. */
  email?: string | undefined;
  /** A part of the username. */
  username?: string | undefined;
  /** A part of an email or of the username. */
  emailOrUsername?: string | undefined;
  ids?: readonly string[] | undefined;
}

/**
 * Lists users by the time of their creation, and counts them. The rows are built only for the page, and nothing is read
 * beyond the last one.
 *
 * A search by a part of a text reads every address, in half a second for a million, as no index of PostgreSQL's core
 * supports it.
 *
 * @returns `total`: all matching users; of a search at most `MAX_SEARCH_RESULTS`
 */
export async function listUsers(
  { runtime, tenant }: { runtime: Databases; tenant: Tenant },
  filter: UserFilter,
  page: { offset: number; limit: number; order: "asc" | "desc" },
): Promise<{ users: UserObject[]; total: number }> {
  const { read } = runtime.database;
  const matches = sql.join([sql`u.tenant_id = ${tenant.id}`, ...conditions(filter)], sql` and `);
  const isSearch = [filter.email, filter.username, filter.emailOrUsername].some((part) => part !== undefined);
  const counted = await read.execute<{ total: number }>(
    isSearch
      ? sql`select count(*)::int as total from (
          select from users u where ${matches} limit ${MAX_SEARCH_RESULTS}) as found`
      : sql`select count(*)::int as total from users u where ${matches}`,
  );
  const total = counted.rows[0]?.total ?? 0;
  const limit = Math.min(page.limit, total - page.offset);
  if (limit <= 0) return { users: [], total };
  const order = sql.raw(page.order);
  // Rare matches are collected and sorted; the planner would walk through all users by time for a short page of them.
  const isRare = isSearch && total < MAX_SEARCH_RESULTS;
  const { rows } = await read.execute<{ user: UserObject }>(sql`
    with matched as ${sql.raw(isRare ? "materialized" : "not materialized")} (
      select u.tenant_id, u.id, u.created_at from users u where ${matches}),
    page as materialized (
      select tenant_id, id from matched
      order by created_at ${order}, id ${order} limit ${limit} offset ${page.offset})
    select ${userObject(tenant.config, "u")} as "user" from page join users u using (tenant_id, id)
    order by u.created_at ${order}, u.id ${order}`);
  return { users: rows.map(({ user }) => user), total };
}

function conditions({ email, username, emailOrUsername, ids }: UserFilter): SQL[] {
  return [
    ...(ids === undefined ? [] : [sql`u.id = any(${sql.param([...ids])}::uuid[])`]),
    ...(email === undefined ? [] : [has("emails", "address", email)]),
    ...(username === undefined ? [] : [has("usernames", "username", username)]),
    ...(emailOrUsername === undefined
      ? []
      : [
          sql`(${has("emails", "address", emailOrUsername)} or ${has("usernames", "username", emailOrUsername)})`,
        ]),
  ];
}

/** Addresses and usernames are stored in lower case. */
function has(table: "emails" | "usernames", column: "address" | "username", part: string): SQL {
  const pattern = `%${part.toLowerCase().replaceAll(/[\\%_]/g, "\\$&")}%`;
  return sql`exists (select from ${sql.identifier(table)} o
    where o.tenant_id = u.tenant_id and o.user_id = u.id and o.${sql.identifier(column)} like ${pattern})`;
}

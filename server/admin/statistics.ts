import { sql } from "drizzle-orm";
import { type Databases, schema } from "#db/client";
import type { TenantContext } from "../context/context.ts";

const { auditLogs, users } = schema;

/** Numbers of a tenant. Days are those of UTC, written `2026-01-31`. */
export interface Statistics {
  users: { total: number; blocked: number; new_by_day: Record<string, number> };
  sign_ins: {
    total: number;
    /** Each day with its sign-ins, and how many of them used a method. A sign-in with two factors has two. */
    by_day: Record<string, { total: number; methods: Record<string, number> }>;
  };
}

/** Days that one answer covers. */
export const MAX_STATISTICS_DAYS = 366;

/**
 * Counts users and sign-ins.
 *
 * The sign-ins are counted from the audit log, so that a sign-in writes nothing for them, and no row is shared by all
 * sign-ins of a day. Their days therefore reach back as far as the log, `audit_log.retention`.
 *
 * @param range days in UTC, both inclusive
 */
export async function readStatistics(
  { runtime, tenant }: TenantContext<Databases>,
  { from, to }: { from: string; to: string },
): Promise<Statistics> {
  const { read } = runtime.database;
  const within = (column: typeof users.createdAt | typeof auditLogs.createdAt) =>
    sql`${column} >= (${from}::date)::timestamp at time zone 'UTC'
      and ${column} < (${to}::date + 1)::timestamp at time zone 'UTC'`;
  const dayOf = (column: typeof users.createdAt | typeof auditLogs.createdAt) =>
    sql<string>`to_char(${column} at time zone 'UTC', 'YYYY-MM-DD')`;
  const [counted] = await read
    .select({
      total: sql<number>`count(*)::int`,
      blocked: sql<number>`(count(*) filter (where ${users.blockedAt} is not null))::int`,
    })
    .from(users)
    .where(sql`${users.tenantId} = ${tenant.id}`);
  const created = await read
    .select({ day: dayOf(users.createdAt).as("day"), total: sql<number>`count(*)::int` })
    .from(users)
    .where(sql`${users.tenantId} = ${tenant.id} and ${within(users.createdAt)}`)
    .groupBy(sql`1`)
    .orderBy(sql`1`);
  const { rows: signIns } = await read.execute<{ day: string; method: string | null; total: number }>(sql`
    with sign_ins as materialized (
      select (${auditLogs.createdAt} at time zone 'UTC')::date as day,
        ${auditLogs.details} -> 'methods' as methods, count(*) as total
      from ${auditLogs}
      where ${auditLogs.tenantId} = ${tenant.id} and ${auditLogs.type} = 'login_success'
        and ${within(auditLogs.createdAt)}
      group by 1, 2)
    select to_char(day, 'YYYY-MM-DD') as day, null as method, sum(total)::int as total from sign_ins group by day
    union all
    select to_char(day, 'YYYY-MM-DD') as day, method, sum(total)::int from sign_ins,
      lateral (select distinct jsonb_array_elements_text(
        case jsonb_typeof(methods) when 'array' then methods else '[]' end) as method) as used
    group by day, method
    order by day, method nulls first`);
  const byDay: Statistics["sign_ins"]["by_day"] = {};
  for (const { day, method, total } of signIns) {
    if (method === null) byDay[day] = { total, methods: {} };
    else Object.assign(byDay[day]?.methods ?? {}, { [method]: total });
  }
  return {
    users: {
      total: counted?.total ?? 0,
      blocked: counted?.blocked ?? 0,
      new_by_day: Object.fromEntries(created.map(({ day, total }) => [day, total])),
    },
    sign_ins: {
      total: Object.values(byDay).reduce((sum, { total }) => sum + total, 0),
      by_day: byDay,
    },
  };
}

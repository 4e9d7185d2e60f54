import { type SQL, sql } from "drizzle-orm";
import type { Databases } from "#db/client";
import { applicationAccesses } from "../account/application-accesses.ts";
import type { Tenant } from "../config/tenant.ts";
import type { TenantContext } from "../context/context.ts";
import { emit } from "../events/emit.ts";
import { isUser } from "../identity/users.ts";
import { application, listedApplication } from "../openid/application.ts";
import { endAccess } from "../openid/consents.ts";
import { eventGrant } from "../openid/event-grant.ts";
import { type Permissions, permissions } from "../openid/waiting-authorization.ts";
import { type AdminContext, changeUser } from "./change-user.ts";
import { type AdminVerdict, notFound } from "./rejections.ts";

/** The accesses of applications to accounts, by OpenID Connect and OAuth 2.0. */

/** The access of one application to one account. */
export interface Access {
  userId: string;
  /** The primary address; null for an account without one. */
  email: string | null;
  clientId: string;
  /** What the application said of itself when it was allowed; null if the operator has listed it. */
  application: unknown;
  /** What the user has allowed; null for the operator's own clients, which need no consent. */
  allowed: Permissions | null;
  /** When the user has allowed it, or signed in to it first. */
  since: string;
  /** When it has to be allowed again; null: never. */
  expiresAt: string | null;
  /** Stored tokens that are accepted. */
  accessTokens: number;
  refreshTokens: number;
}

type Stored = Omit<Access, "allowed"> & { allowed: unknown };

/**
 * Reads a page of accesses, the newest first, and counts them, in one statement.
 *
 * @param which condition on `user_id` and `client_id` of `o`
 */
async function pageOfAccesses(
  db: Pick<Databases["database"]["read"], "execute">,
  tenantId: string,
  which: SQL,
  now: Date,
  { number, size }: { number: number; size: number },
): Promise<{ accesses: Access[]; total: number }> {
  const at = now.toISOString();
  const { rows } = await db.execute<{ total: number; items: Stored[] }>(sql`
    with accesses as materialized (
      ${applicationAccesses(sql`o.tenant_id = ${tenantId} and ${which}`, now)}),
    shown as (
      select * from accesses order by since desc, client_id, user_id
      limit ${size} offset ${(number - 1) * size})
    select (select count(*)::int from accesses) as total, (
      select coalesce(json_agg(json_build_object(
        'userId', s.user_id, 'email', e.address, 'clientId', s.client_id, 'application', s.application, 'allowed', s.allowed,
        'since', s.since, 'expiresAt', s.expires_at, 'accessTokens', t.access, 'refreshTokens', t.refresh)
        order by s.since desc, s.client_id, s.user_id), '[]')
      from shown s
      left join emails e on e.tenant_id = ${tenantId} and e.user_id = s.user_id and e.is_primary
      cross join lateral (
        select (count(*) filter (where a.kind = 'AccessToken'))::int as access,
          (count(*) filter (where a.kind = 'RefreshToken'))::int as refresh
        from openid_artifacts a
        where a.tenant_id = ${tenantId} and a.user_id = s.user_id and a.client_id = s.client_id
          and a.consumed_at is null and a.expires_at > ${at}::timestamptz) t) as items`);
  const { total = 0, items = [] } = rows[0] ?? {};
  return { total, accesses: items.map(accessOf) };
}

const accessOf = ({ allowed, since, expiresAt, ...stored }: Stored): Access => ({
  ...stored,
  allowed: allowed === null ? null : permissions.parse(allowed),
  since: new Date(since).toISOString(),
  expiresAt: expiresAt === null ? null : new Date(expiresAt).toISOString(),
});

/** What is known of an application: its name, and where that comes from. Null without either. */
export function describedApplication(
  { config }: Pick<Tenant, "config">,
  { clientId, application: said }: Pick<Access, "clientId" | "application">,
): { name: string; origin: "listed" | "document" | "registration" } | null {
  return listedApplication(config, clientId) ?? application.safeParse(said).data ?? null;
}

/** Lists the applications that have access to an account, the newest first. */
export async function listUserApplications(
  { runtime, tenant, now }: TenantContext<Databases> & { now: Date },
  userId: string,
  page: { number: number; size: number },
): Promise<AdminVerdict<{ accesses: Access[]; total: number }>> {
  const { read } = runtime.database;
  const [exists, listed] = await Promise.all([
    isUser(read, tenant.id, userId),
    pageOfAccesses(read, tenant.id, sql`o.user_id = ${userId}`, now, page),
  ]);
  return exists ? { ok: true, ...listed } : notFound;
}

/**
 * Lists the accesses of an application to accounts of a tenant, the newest first. Its cost grows with the accesses of all
 * applications of the tenant.
 */
export const listApplicationAccesses = (
  { database }: Databases,
  tenantId: string,
  clientId: string,
  now: Date,
  page: { number: number; size: number },
): Promise<{ accesses: Access[]; total: number }> =>
  pageOfAccesses(database.read, tenantId, sql`o.client_id = ${clientId}`, now, page);

/** Ends the access of an application to an account, with its codes and tokens. Its next request is as its first. */
export function endUserApplication(
  context: AdminContext,
  userId: string,
  clientId: string,
): Promise<AdminVerdict> {
  const { tenant, now } = context;
  return changeUser(context, userId, async ({ tx, record }) => {
    const which = sql`o.user_id = ${userId} and o.client_id = ${clientId}`;
    const { accesses } = await pageOfAccesses(tx, tenant.id, which, now, { number: 1, size: 1 });
    const [ended] = accesses;
    if (!ended) return notFound;
    await endAccess(tenant.id, userId, clientId)(tx);
    const { application: described, allowed } = ended;
    await emit(
      context,
      "oauth.grant.revoke",
      eventGrant(tenant.config, { userId, clientId, described, allowed }),
    )(tx);
    await record("consent_withdrawn", { client_id: clientId });
    return { ok: true };
  });
}

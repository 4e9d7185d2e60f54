import { type SQL, sql } from "drizzle-orm";

/**
 * The accesses of applications to accounts: what users have allowed (`openid_consents`), and what is granted to the operator's own
 * clients, which ends with the session unless it has `offline_access`.
 *
 * @param which condition on the columns `tenant_id`, `user_id` and `client_id` of `o`
 * @returns a query with the columns `user_id`, `client_id`, `application`, `allowed`, `since` and `expires_at`
 */
export const applicationAccesses = (which: SQL, now: Date): SQL => sql`
  select coalesce(c.user_id, g.user_id) as user_id, coalesce(c.client_id, g.client_id) as client_id, c.application, c.allowed,
    coalesce(c.created_at, g.since) as since, c.expires_at
  from (
    select * from openid_consents o
    where ${which} and (o.expires_at is null or o.expires_at > ${now.toISOString()}::timestamptz)) c
  full join (
    select o.user_id, o.client_id, min(o.created_at) as since from openid_artifacts o
    where ${which} and o.kind = 'Grant' and o.expires_at > ${now.toISOString()}::timestamptz
      -- A grant of which nothing is left gives nothing.
      and exists (
        select 1 from openid_artifacts a
        where a.tenant_id = o.tenant_id and a.user_id = o.user_id and a.client_id = o.client_id
          and a.kind in ('Session', 'RefreshToken', 'AccessToken', 'DeviceCode')
          and a.expires_at > ${now.toISOString()}::timestamptz)
    group by 1, 2) g
    on g.user_id = c.user_id and g.client_id = c.client_id`;

/**
 * SQL of the parts of a `with` that lock account and sessions of what a grant has issued, before any of it: the end of a session
 * deletes its artifacts in no order. What is locked next has to ask for `familyOwnersLocked`.
 *
 * @param grantHash SQL of the hash of the grant; `$1` is the tenant
 */
export const lockedFamilyOwners = (grantHash: string) => `
  owner as materialized (
    select user_id, session_id from openid_artifacts where tenant_id = $1 and grant_hash = ${grantHash}),
  account as materialized (
    select 1 from users where tenant_id = $1 and id = any (array(select user_id from owner)) order by id for key share),
  session as materialized (
    select 1 from sessions where tenant_id = $1 and id = any (array(select session_id from owner))
      and (select count(*) from account) >= 0
    order by id for key share)`;

/** SQL that is always true, once those are locked. */
export const familyOwnersLocked = "(select count(*) from session) >= 0";

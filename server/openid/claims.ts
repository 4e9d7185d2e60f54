import type { Account, AccountClaims } from "oidc-provider";
import type { Databases } from "#db/client";
import { queryPrepared } from "#db/prepared";
import type { TenantContext } from "../context/context.ts";

interface UserRow {
  name: string | null;
  given_name: string | null;
  family_name: string | null;
  preferred_username: string | null;
  picture: string | null;
  locale: string | null;
  updated_at: number;
  email: string | null;
  email_verified: boolean | null;
  phone_number: string | null;
  phone_number_verified: boolean | null;
}

/**
 * Finds the account of a token or session.
 *
 * @returns undefined if it was deleted, or is blocked: nothing is issued for it
 */
export async function findAccount(
  { runtime, tenant }: TenantContext<Databases>,
  accountId: string,
): Promise<Account | undefined> {
  const [row] = await queryPrepared<UserRow, "read">(runtime.database, "read", {
    name: "openid_account",
    text: accountText,
    values: [tenant.id, accountId],
  });
  if (!row) return undefined;
  const { base_url } = tenant.config;
  const picture = row.picture?.startsWith("/") ? `${base_url}${row.picture}` : row.picture;
  const known = Object.entries({ ...row, picture }).filter(([, value]) => value !== null);
  return {
    accountId,
    claims: async () => ({ sub: accountId, ...Object.fromEntries(known) }) as AccountClaims,
  };
}

const accountText = `
  select u.name, u.given_name, u.family_name, n.username as preferred_username, u.picture, u.language as locale,
    extract(epoch from u.updated_at)::int as updated_at,
    e.address as email, case when e.address is not null then e.verified_at is not null end as email_verified,
    p.number as phone_number, case when p.number is not null then p.verified_at is not null end as phone_number_verified
  from users u
  left join emails e on e.tenant_id = u.tenant_id and e.user_id = u.id and e.is_primary
  left join usernames n on n.tenant_id = u.tenant_id and n.user_id = u.id
  left join phone_numbers p on p.tenant_id = u.tenant_id and p.user_id = u.id
  where u.tenant_id = $1 and u.id = $2 and u.blocked_at is null`;

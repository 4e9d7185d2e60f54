import { type SQL, sql } from "drizzle-orm";
import type { Databases, Transaction } from "#db/client";
import type { Tenant } from "../config/tenant.ts";
import type { Sealing } from "../keys/vault.ts";
import { encodeTotpSecret, totpSealContext } from "../methods/totp/totp.ts";

/** What an export needs of a runtime. */
export type ExportRuntime = Databases & Sealing;

/** Users of one statement. */
const PAGE_USERS = 1_000;

/**
 * Writes the users of a tenant as lines of JSON, in the order of their ids. All of them are read in one snapshot: the
 * export is the tenant at the moment of its first statement.
 *
 * @param withSecrets whether to include hashes of passwords, secrets of authenticator apps and digests of recovery codes
 * @param write receives the lines of each page, and may let the export wait
 * @returns the number of users
 */
export async function exportUsers(
  { database, vault }: ExportRuntime,
  tenant: Pick<Tenant, "id">,
  { withSecrets }: { withSecrets: boolean },
  write: (lines: string[]) => Promise<void>,
): Promise<number> {
  const lineOf = ({ id, line, sealed_secret, last_step, totp_created_at }: PageRow): string => {
    if (!sealed_secret) return line;
    const secret = encodeTotpSecret(vault.unseal(sealed_secret, totpSealContext(tenant.id, id)));
    const totp = JSON.stringify({ secret, last_step: Number(last_step), created_at: totp_created_at });
    // The rest stays as PostgreSQL wrote it: a number that JavaScript cannot represent is not changed.
    return `${line.slice(0, -1)},"totp":${totp}}`;
  };
  const read = async (tx: Transaction) => {
    let count = 0;
    for (let page = await pageAfter(tx, tenant.id, null, withSecrets); page.length > 0; ) {
      // The next page is read while this one is written.
      const next = pageAfter(tx, tenant.id, page.at(-1)?.id ?? null, withSecrets);
      next.catch(() => {});
      await write(page.map(lineOf));
      count += page.length;
      page = await next;
    }
    return count;
  };
  return database.read.transaction(read, { isolationLevel: "repeatable read", accessMode: "read only" });
}

interface PageRow extends Record<string, unknown> {
  id: string;
  /** A record of `user-record.ts` without `totp`. */
  line: string;
  sealed_secret: Buffer | null;
  last_step: string | null;
  totp_created_at: string | null;
}

async function pageAfter(
  tx: Transaction,
  tenantId: string,
  after: string | null,
  withSecrets: boolean,
): Promise<PageRow[]> {
  const { rows } = await tx.execute<PageRow>(sql`
    select u.id, row_to_json(f)::text as line, t.sealed_secret, t.last_step, ${time("t.created_at")} as totp_created_at
    from (
      select * from users
      where tenant_id = ${tenantId} ${after === null ? sql`` : sql`and id > ${after}`}
      order by id limit ${PAGE_USERS}) u
    left join totp_secrets t on ${sql.raw(String(withSecrets))} and t.tenant_id = u.tenant_id and t.user_id = u.id
    cross join lateral (
      select u.id, u.name, u.given_name, u.family_name,
        case when u.picture like '/%' then null else u.picture end as picture,
        (select ${base64url("o.data")} from user_pictures o
          where o.tenant_id = u.tenant_id and o.user_id = u.id) as picture_file,
        ${list("emails", emailMembers, "o.is_primary desc, o.created_at, o.address")} as emails,
        (select o.username from usernames o where o.tenant_id = u.tenant_id and o.user_id = u.id) as username,
        ${withSecrets ? secretMembers : sql``}
        u.public_metadata, u.private_metadata, u.unsafe_metadata,
        ${list("webauthn_credentials", passkeyMembers, "o.created_at, o.id")} as passkeys,
        ${list("identities", identityMembers, "o.created_at, o.provider, o.subject")} as identities,
        u.language, ${time("u.blocked_at")} as blocked_at, ${time("u.created_at")} as created_at,
        ${time("u.updated_at")} as updated_at) f
    order by u.id`);
  return rows;
}

/** A time in ISO 8601, in UTC, with milliseconds. */
function time(column: string): SQL {
  return sql.raw(`to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`);
}

/** Bytes as base64url without padding. PostgreSQL breaks the lines of base64. */
function base64url(column: string): SQL {
  return sql.raw(`translate(encode(${column}, 'base64'), E'+/=\\n', '-_')`);
}

/** The rows of a user in a table, as a JSON array in one line. */
function list(table: string, members: SQL, order: string): SQL {
  return sql`array_to_json(array(
    select row_to_json(m) from ${sql.raw(table)} o cross join lateral (select ${members}) m
    where o.tenant_id = u.tenant_id and o.user_id = u.id order by ${sql.raw(order)}))`;
}

const emailMembers = sql`o.address, o.is_primary, o.verified_at is not null as is_verified,
  ${time("o.verified_at")} as verified_at, ${time("o.created_at")} as created_at`;

const passkeyMembers = sql`o.id, ${base64url("o.public_key")} as public_key, ${base64url("o.user_handle")} as user_handle,
  o.sign_count, o.aaguid, o.attestation_type, o.transports, o.backup_eligible, o.backup_state, o.user_verified,
  o.mfa_only, o.name, ${time("o.last_used_at")} as last_used_at, ${time("o.created_at")} as created_at`;

const identityMembers = sql`o.provider, o.subject, o.email, ${time("o.created_at")} as created_at`;

const secretMembers = sql`
  (select o.hash from passwords o where o.tenant_id = u.tenant_id and o.user_id = u.id) as password_hash,
  (select ${time("o.updated_at")} from passwords o where o.tenant_id = u.tenant_id and o.user_id = u.id)
    as password_set_at,
  (select case when count(*) = 0 then null else json_build_object('tenant_id', u.tenant_id, 'digests',
      array_agg(${base64url("coalesce(o.key_id, '') || o.code_hash")} order by o.code_hash)) end
    from recovery_codes o where o.tenant_id = u.tenant_id and o.user_id = u.id) as recovery_codes,`;

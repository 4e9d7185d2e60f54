import { getTableName, sql } from "drizzle-orm";
import type { Databases, Transaction } from "#db/client";
import { isoTime } from "#db/iso-time";
import { rulesOf } from "#db/schema/table";
import { tables } from "#db/tables";
import type { Tenant } from "../config/tenant.ts";
import type { Sealing } from "../keys/vault.ts";
import { movings } from "../methods/index.ts";
import { exportedBytes, exportedRows, exportedValue, type Moving, TENANT } from "../methods/moving.ts";

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
  const lineOf = ({ id, line, ...sealed }: PageRow): string => {
    const unsealed = unsealedMembers.flatMap(([member, unseal]) => {
      const stored = sealed[member];
      if (stored === null || stored === undefined) return [];
      return `,"${member}":${JSON.stringify(unseal(stored as never, { vault, tenantId: tenant.id, userId: id }))}`;
    });
    // The rest stays as PostgreSQL wrote it: a number that JavaScript cannot represent is not changed.
    return `${line.slice(0, -1)}${unsealed.join("")}}`;
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
  /** A record of `user-record.ts` without the members that are stored sealed, which are beside it. */
  line: string;
}

const everyMoving: readonly Moving[] = movings;

/** Members that are stored sealed, with what unseals them. */
const unsealedMembers = everyMoving.flatMap(({ exported, unsealed }) =>
  unsealed ? Object.keys(exported).map((member) => [member, unsealed] as const) : [],
);

const secretTables = new Set(
  tables
    .filter((table) => {
      const rules = rulesOf(table);
      return rules.owner === "account" && "isSecret" in rules.exported && rules.exported.isSecret;
    })
    .map((table) => getTableName(table)),
);

/** SQL of the members of some methods, as columns after others. */
function columnsOf(
  tenantId: string,
  which: (moving: Moving & { isSecret: boolean; isSealed: boolean }) => boolean,
) {
  const columns = everyMoving
    .map((moving) => ({
      ...moving,
      isSecret: secretTables.has(moving.table),
      isSealed: moving.unsealed !== undefined,
    }))
    .filter(which)
    .flatMap(({ exported }) => Object.entries(exported).map(([member, value]) => `, ${value} as ${member}`));
  return ofTenant(tenantId, columns.join(""));
}

/** SQL with a parameter wherever it names the tenant. */
const ofTenant = (tenantId: string, text: string) =>
  sql.join(
    text.split(TENANT).map((part) => sql.raw(part)),
    sql`${tenantId}`,
  );

async function pageAfter(
  tx: Transaction,
  tenantId: string,
  after: string | null,
  withSecrets: boolean,
): Promise<PageRow[]> {
  const { rows } = await tx.execute<PageRow>(sql`
    select u.id, row_to_json(f)::text as line ${columnsOf(tenantId, ({ isSealed, isSecret }) => isSealed && (withSecrets || !isSecret))}
    from (
      select * from users
      where tenant_id = ${tenantId} ${after === null ? sql`` : sql`and id > ${after}`}
      order by id limit ${PAGE_USERS}) u
    cross join lateral (
      select u.id, u.name, u.given_name, u.family_name,
        case when u.picture like '/%' then null else u.picture end as picture,
        ${ofTenant(tenantId, identifierColumns)} ${columnsOf(tenantId, ({ isSealed, isSecret }) => !isSealed && isSecret && withSecrets)},
        u.public_metadata, u.private_metadata, u.unsafe_metadata ${columnsOf(tenantId, ({ isSealed, isSecret }) => !isSealed && !isSecret)},
        u.language, ${time("u.blocked_at")} as blocked_at, ${time("u.created_at")} as created_at,
        ${time("u.updated_at")} as updated_at) f
    order by u.id`);
  return rows;
}

/** SQL of a time in ISO 8601, in UTC, with milliseconds. */
const time = (column: string) => sql.raw(isoTime(column));

const identifierColumns = `
  ${exportedValue("user_pictures", exportedBytes("o.data"))} as picture_file,
  ${exportedRows(
    "emails",
    `o.address, o.is_primary, o.verified_at is not null as is_verified,
    ${isoTime("o.verified_at")} as verified_at, ${isoTime("o.created_at")} as created_at`,
    "o.is_primary desc, o.created_at, o.address",
  )} as emails,
  ${exportedValue("usernames", "o.username")} as username`;

import { and, arrayOverlaps, count, eq, getTableColumns, is, ne, sql } from "drizzle-orm";
import { type PgColumn, PgTable } from "drizzle-orm/pg-core";
import { schema, type Transaction } from "#db/client";
import { ownHosts } from "../config/own-hosts.ts";
import { checkMailServer } from "../mail/tenant-mail.ts";
import type { Runtime } from "../runtime.ts";
import { openSettings, sealSettings } from "./sealed-settings.ts";
import type { Tenant } from "./tenant.ts";
import { type Settings, tenantConfig } from "./tenant-config.ts";
import { type TenantRow, tenantOf } from "./tenants.ts";

const { tenants, users } = schema;

/** A rejected change of a tenant. `message` is one line for the operator. */
export class TenantError extends Error {}

type ManagementContext = Pick<Runtime, "config" | "tenant" | "tenants" | "database" | "vault" | "platform">;

/** A tenant as an operator describes it. */
export interface TenantDescription {
  name: string;
  hosts: string[];
  settings: Settings;
}

const MAX_NAME_CHARACTERS = 200;

/** RFC 1123, 2.1, with at least one dot. */
const hostName = /^(?=.{3,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9-]*[a-z][a-z0-9-]*$/;

/** Lists all tenants, oldest first; `tenant` is null if its settings are invalid. */
export async function listTenants({
  database,
  tenant,
  vault,
}: ManagementContext): Promise<{ row: TenantRow; tenant: Tenant | null }[]> {
  const rows = await database.read.select().from(tenants).orderBy(tenants.createdAt, tenants.id);
  return rows.map((row) => {
    if (row.id === tenant.id) return { row, tenant };
    try {
      return { row, tenant: tenantOf(tenant, vault, row) };
    } catch {
      return { row, tenant: null };
    }
  });
}

/**
 * Creates a tenant.
 *
 * @param id default: a new one
 * @throws ConfigError if its settings are invalid; TenantError if its name or a host name is invalid, or its id or a host
 *   name is taken
 */
export async function createTenant(
  context: ManagementContext,
  { id = context.platform.uuid(), ...description }: TenantDescription & { id?: string },
): Promise<Tenant> {
  const { row, config } = prepare(context, id, description);
  await context.database.write.transaction(async (tx) => {
    await requireFreeHosts(tx, context, id, row.hosts);
    const inserted = await tx
      .insert(tenants)
      .values({ id, ...row })
      .onConflictDoNothing()
      .returning({ id: tenants.id });
    if (inserted.length === 0) throw new TenantError(`tenant ${id} already exists`);
  });
  context.tenants.forget();
  return { id, config };
}

/**
 * Changes a tenant. Absent members stay as they are; settings are replaced as a whole.
 *
 * @throws as `createTenant` does; TenantError if the tenant does not exist or is the default one
 */
export async function updateTenant(
  context: ManagementContext,
  id: string,
  change: Partial<TenantDescription>,
): Promise<Tenant> {
  rejectDefault(context, id);
  const config = await context.database.write.transaction(async (tx) => {
    const [row] = await tx.select().from(tenants).where(eq(tenants.id, id)).for("update");
    if (!row) throw new TenantError(`there is no tenant ${id}`);
    const settings = change.settings ?? openSettings(context.vault, id, row);
    const { name, hosts } = row;
    const changed = prepare(context, id, { name, hosts, ...change, settings });
    await requireFreeHosts(tx, context, id, changed.row.hosts);
    // Always later than before: other processes detect a change by it.
    const updatedAt = sql`greatest(clock_timestamp(), ${tenants.updatedAt} + interval '1 millisecond')`;
    await tx
      .update(tenants)
      .set({ ...changed.row, updatedAt })
      .where(eq(tenants.id, id));
    return changed.config;
  });
  context.tenants.forget();
  return { id, config };
}

/**
 * Deletes a tenant with all its data.
 *
 * @param withUsers whether to delete its accounts too
 * @throws TenantError if the tenant does not exist or is the default one, or has accounts and `withUsers` is false
 */
export async function deleteTenant(
  context: ManagementContext,
  id: string,
  { withUsers }: { withUsers: boolean },
): Promise<void> {
  rejectDefault(context, id);
  await context.database.write.transaction(async (tx) => {
    // The lock blocks registrations until the tenant is deleted.
    const [row] = await tx.select().from(tenants).where(eq(tenants.id, id)).for("update");
    if (!row) throw new TenantError(`there is no tenant ${id}`);
    const [accounts] = await tx.select({ count: count() }).from(users).where(eq(users.tenantId, id));
    if (accounts && accounts.count > 0 && !withUsers) {
      throw new TenantError(
        `tenant ${id} has ${accounts.count} users, who would be deleted: pass --with-users`,
      );
    }
    await tx.delete(tenants).where(eq(tenants.id, id));
    for (const { table, tenantId } of tablesOfTenants()) await tx.delete(table).where(eq(tenantId, id));
  });
  context.tenants.forget();
}

/** Tables whose rows belong to tenants. Foreign keys already delete the rows of most of them. */
function tablesOfTenants(): { table: PgTable; tenantId: PgColumn }[] {
  return Object.values(schema).flatMap((table) => {
    if (!is(table, PgTable)) return [];
    const { tenantId } = getTableColumns(table) as Record<string, PgColumn>;
    return tenantId ? [{ table, tenantId }] : [];
  });
}

/** Validates a description of a tenant, and returns its row and its configuration. */
function prepare(
  { config: server, vault }: ManagementContext,
  id: string,
  { name, hosts, settings }: TenantDescription,
) {
  const trimmed = name.trim();
  if (trimmed === "" || trimmed.length > MAX_NAME_CHARACTERS)
    throw new TenantError(`a tenant's name must have 1 to ${MAX_NAME_CHARACTERS} characters`);
  const names = [...new Set(hosts.map((host) => host.toLowerCase()))];
  const own = ownHosts(server);
  for (const host of names) {
    if (!hostName.test(host)) throw new TenantError(`${host} is not a host name like login.example.com`);
    if (own.includes(host)) throw new TenantError(`${host} is the server's own host name`);
  }
  const config = tenantConfig(server, { id, name: trimmed, hosts: names, settings });
  checkMailServer(config);
  return { row: { name: trimmed, hosts: names, ...sealSettings(vault, id, settings) }, config };
}

/** Rejects a host name of another tenant. Locks the default tenant's row, so that concurrent claims run in turn. */
async function requireFreeHosts(
  tx: Transaction,
  { tenant }: ManagementContext,
  id: string,
  hosts: string[],
): Promise<void> {
  if (hosts.length === 0) return;
  await tx.select({ id: tenants.id }).from(tenants).where(eq(tenants.id, tenant.id)).for("update");
  const [taken] = await tx
    .select({ id: tenants.id, hosts: tenants.hosts })
    .from(tenants)
    .where(and(ne(tenants.id, id), arrayOverlaps(tenants.hosts, hosts)));
  const host = taken?.hosts.find((name) => hosts.includes(name));
  if (taken) throw new TenantError(`${host} is the host name of tenant ${taken.id}`);
}

function rejectDefault({ tenant }: ManagementContext, id: string): void {
  if (id !== tenant.id) return;
  throw new TenantError("the default tenant is defined by the server's configuration");
}

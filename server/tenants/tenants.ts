import { eq, ne, sql } from "drizzle-orm";
import { type Database, schema } from "#db/client";
import { ConfigError } from "../config/errors.ts";
import type { Vault } from "../keys/vault.ts";
import { openSettings } from "./sealed-settings.ts";
import type { Tenant } from "./tenant.ts";
import { tenantConfig } from "./tenant-config.ts";

const { tenants } = schema;

/** A tenant's row. */
export type TenantRow = typeof tenants.$inferSelect;

/** Finds tenants. What it knows is a few seconds old at most, so that another process's change is soon seen. */
export interface Tenants {
  /**
   * @param id a UUID in lower case
   * @returns null when there is none; the same object as before while nothing of it has changed
   * @throws ConfigError when what it was given does not go with the server's configuration (any more)
   */
  byId(id: string): Promise<Tenant | null>;
  /**
   * @param name a host name in lower case, without port
   * @returns the tenant whose own it is; null when it is nobody's
   */
  byHost(name: string): Promise<Tenant | null>;
  /** Makes this process look again: something of a tenant was changed here. */
  forget(): void;
}

export interface TenantsOptions {
  /** The default tenant, made from the server's configuration; its row holds nothing but its name. */
  defaultTenant: Tenant;
  database: Pick<Database, "read">;
  vault: Vault;
}

const freshMilliseconds = 5_000;

/** Those asked for least recently give way. */
const mostKept = 1_000;

interface Known {
  at: number;
  found: Promise<{ tenant: Tenant; updatedAt: number } | null>;
}

/** Makes the registry of a process. Asks nothing before it is asked. */
export function createTenants({ defaultTenant, database, vault }: TenantsOptions): Tenants {
  const known = new Map<string, Known>();
  let hosts: { at: number; ids: Promise<Map<string, string>> } | undefined;

  async function read(id: string, before: Known | undefined): Promise<Awaited<Known["found"]>> {
    const [row] = await database.read.select().from(tenants).where(eq(tenants.id, id));
    if (!row) return null;
    const last = await before?.found.catch(() => null);
    const updatedAt = row.updatedAt.getTime();
    if (last?.updatedAt === updatedAt) return last;
    return { tenant: tenantOf(defaultTenant, vault, row), updatedAt };
  }

  async function byId(id: string): Promise<Tenant | null> {
    if (id === defaultTenant.id) return defaultTenant;
    const before = known.get(id);
    if (before && performance.now() - before.at < freshMilliseconds)
      return (await before.found)?.tenant ?? null;
    const now: Known = { at: performance.now(), found: read(id, before) };
    known.delete(id);
    known.set(id, now);
    const [oldest] = known.keys();
    if (known.size > mostKept && oldest !== undefined) known.delete(oldest);
    // Neither failures nor the ids that anybody makes up are kept.
    const drop = () => known.get(id) === now && known.delete(id);
    now.found.then((found) => found ?? drop(), drop);
    return (await now.found)?.tenant ?? null;
  }

  return {
    byId,

    async byHost(name) {
      if (!hosts || performance.now() - hosts.at >= freshMilliseconds) {
        const ids = readHosts(database);
        const reading = { at: performance.now(), ids };
        hosts = reading;
        ids.catch(() => {
          if (hosts === reading) hosts = undefined;
        });
      }
      const id = (await hosts.ids).get(name);
      return id === undefined ? null : byId(id);
    },

    forget() {
      // Looked at again, and the same objects where nothing has changed.
      for (const entry of known.values()) entry.at = Number.NEGATIVE_INFINITY;
      hosts = undefined;
    },
  };
}

/**
 * The tenant that a row describes.
 *
 * @throws ConfigError with one line that names the tenant and the setting at fault
 */
export function tenantOf({ config: server }: Tenant, vault: Vault, row: TenantRow): Tenant {
  const settings = openSettings(vault, row.id, row);
  try {
    return { id: row.id, config: tenantConfig(server, { ...row, settings }) };
  } catch (error) {
    if (error instanceof ConfigError) throw new ConfigError(`tenant ${row.id}: ${error.message}`);
    throw error;
  }
}

/** Every host name of a tenant's own, and whose it is. */
async function readHosts(database: Pick<Database, "read">): Promise<Map<string, string>> {
  const rows = await database.read
    .select({ id: tenants.id, hosts: tenants.hosts })
    .from(tenants)
    .where(ne(sql`cardinality(${tenants.hosts})`, 0));
  return new Map(rows.flatMap(({ id, hosts }) => hosts.map((host): [string, string] => [host, id])));
}

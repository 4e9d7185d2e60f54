import { eq, ne, sql } from "drizzle-orm";
import type { Logger } from "pino";
import { type Database, schema } from "#db/client";
import { ConfigError } from "../config/errors.ts";
import type { Tenant } from "../config/tenant.ts";
import type { Vault } from "../keys/vault.ts";
import { openSettings } from "./sealed-settings.ts";
import { tenantConfig } from "./tenant-config.ts";
import { foreignParties, withoutForeign } from "./token-parties.ts";

const { tenants } = schema;

export type TenantRow = typeof tenants.$inferSelect;

/** Finds tenants. Results are cached for at most 5 seconds, after which changes by other processes are seen. */
export type Tenants = ReturnType<typeof createTenants>;

export interface TenantsOptions {
  /** The default tenant, created from the server's configuration; its row holds only its name. */
  defaultTenant: Tenant;
  database: Pick<Database, "read">;
  vault: Vault;
  /** Told of settings that are ignored, once for each version of a tenant that is read. Default: none. */
  log?: Pick<Logger, "warn">;
}

const CACHE_LIFETIME_MS = 5_000;

/** The oldest entries are evicted first. */
const MAX_CACHED_TENANTS = 1_000;

interface CacheEntry {
  /** Monotonic time of the read, in milliseconds. */
  at: number;
  found: Promise<{
    tenant: Tenant;
    /** As its row describes it, without regard to other tenants. */
    stored: Tenant;
    updatedAt: number;
    version: string;
  } | null>;
}

/** Creates the registry of a process. It reads the database on the first look-up. */
export function createTenants({ defaultTenant, database, vault, log }: TenantsOptions) {
  const known = new Map<string, CacheEntry>();
  let hosts: { at: number; ids: Promise<Map<string, string>> } | undefined;

  async function read(id: string, before: CacheEntry | undefined): Promise<Awaited<CacheEntry["found"]>> {
    const [row] = await database.read.select().from(tenants).where(eq(tenants.id, id));
    if (!row) return null;
    const last = await before?.found.catch(() => null);
    const updatedAt = row.updatedAt.getTime();
    // With the hosts of other tenants, this changes without a change of the row.
    const stored = last?.updatedAt === updatedAt ? last.stored : tenantOf(defaultTenant, vault, row);
    const foreign = await foreignParties(database.read, defaultTenant.config, stored);
    const version = `${updatedAt} ${JSON.stringify(foreign)}`;
    if (last?.version === version) return last;
    const tenant = withoutForeign(stored, foreign);
    for (const { line } of tenant.config.ignored) log?.warn({ tenant: id }, line);
    return { tenant, stored, updatedAt, version };
  }

  /**
   * @param id a UUID in lower case
   * @returns null if the tenant does not exist; the same object as before if the tenant is unchanged
   * @throws ConfigError if its settings are invalid together with the server's configuration
   */
  async function byId(id: string): Promise<Tenant | null> {
    if (id === defaultTenant.id) return defaultTenant;
    const before = known.get(id);
    if (before && performance.now() - before.at < CACHE_LIFETIME_MS)
      return (await before.found)?.tenant ?? null;
    const now: CacheEntry = { at: performance.now(), found: read(id, before) };
    known.delete(id);
    known.set(id, now);
    const [oldest] = known.keys();
    if (known.size > MAX_CACHED_TENANTS && oldest !== undefined) known.delete(oldest);
    // Failures are not cached. Unknown ids are not cached either, because a client can send any number of them.
    const drop = () => known.get(id) === now && known.delete(id);
    now.found.then((found) => found ?? drop(), drop);
    return (await now.found)?.tenant ?? null;
  }

  return {
    byId,

    /**
     * @param name a host name in lower case, without port
     * @returns the tenant that has the host name, or null
     */
    async byHost(name: string): Promise<Tenant | null> {
      if (!hosts || performance.now() - hosts.at >= CACHE_LIFETIME_MS) {
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

    /** Invalidates the cache; called after a change by this process. */
    forget(): void {
      // Entries stay, so that unchanged tenants keep their objects.
      for (const entry of known.values()) entry.at = Number.NEGATIVE_INFINITY;
      hosts = undefined;
    },
  };
}

/**
 * Converts a row to a tenant.
 *
 * @throws ConfigError with one line that names the tenant and the invalid setting
 */
export function tenantOf({ config: server }: Tenant, vault: Vault, row: TenantRow): Tenant {
  const settings = openSettings(vault, row.id, row);
  try {
    return { id: row.id, config: tenantConfig(server, { ...row, settings }) };
  } catch (error) {
    if (error instanceof ConfigError)
      throw new ConfigError(`tenant ${row.id}: ${error.message}`, error.ignored);
    throw error;
  }
}

/** Returns the tenant id of every host name. */
async function readHosts(database: Pick<Database, "read">): Promise<Map<string, string>> {
  const rows = await database.read
    .select({ id: tenants.id, hosts: tenants.hosts })
    .from(tenants)
    .where(ne(sql`cardinality(${tenants.hosts})`, 0));
  return new Map(rows.flatMap(({ id, hosts }) => hosts.map((host): [string, string] => [host, id])));
}

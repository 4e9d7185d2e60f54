import { isIP } from "node:net";
import type { Config } from "../config/schema.ts";
import { isCanonicalUuid } from "../lib/uuid.ts";
import type { Runtime } from "../runtime.ts";
import type { Tenant } from "../tenants/tenant.ts";
import { hostName, isKnownHost } from "./host.ts";
import { pathPrefix } from "./tenant-path.ts";

/** Whom a request is for, and what for. */
export interface Located {
  /** `null` when there is none by that id. */
  tenant: Tenant | null;
  /** The path without the tenant's prefix. */
  path: string;
}

const underPrefix = /^\/t\/([^/]+)(\/.*)?$/;

/**
 * The one place that tells tenants apart by their address: by a host name of their own, or by `/t/{id}` on the
 * server's own host names. The default tenant needs neither.
 *
 * @param host the `Host` header
 * @param path of the request's target
 * @returns null for a host name that this service does not answer to
 * @throws ConfigError when the tenant's settings do not hold any more
 */
export async function locate(runtime: Runtime, host: string | null, path: string): Promise<Located | null> {
  const { config, tenant, tenants } = runtime;
  const name = host === null ? null : hostName(host);
  const hostOwner = name === null || isServers(name, config) ? null : await tenants.byHost(name);
  if (hostOwner) return { tenant: hostOwner, path };
  if (!isKnownHost(host, config)) return null;
  const [, id, rest = "/"] = underPrefix.exec(path) ?? [];
  if (id === undefined) return { tenant, path };
  const named = isCanonicalUuid(id) ? await tenants.byId(id) : null;
  // One address for each: whoever has a host name is not found by the other way.
  const here = named && (named === tenant || pathPrefix(named.config) !== "");
  return { tenant: here ? named : null, path: rest };
}

/** Names that cannot be a tenant's, so nobody has to be asked. */
function isServers(name: string, config: Config): boolean {
  return (
    !name.includes(".") ||
    isIP(name) > 0 ||
    name === new URL(config.base_url).hostname ||
    config.server.hosts.some((known) => known.toLowerCase() === name)
  );
}

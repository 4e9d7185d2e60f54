import type { Tenant } from "../../config/tenant.ts";
import { isCanonicalUuid } from "../../lib/uuid.ts";
import type { Runtime } from "../../runtime.ts";
import { hostName, isKnownHost, isServerHost } from "./host.ts";
import { pathPrefix } from "./tenant-path.ts";

/** The tenant and the path that a request is for. */
export interface Located {
  /** Null for an unknown id. */
  tenant: Tenant | null;
  /** Path without the tenant's prefix. */
  path: string;
}

const underPrefix = /^\/t\/([^/]+)(\/.*)?$/;

/** Metadata of an issuer with a path: the path stands behind the name that is looked for (RFC 8414, 3.1). */
const insertedPrefix = /^(\/\.well-known\/(?:oauth-authorization-server|openid-configuration))(\/t\/[^/]+)$/;

/**
 * Finds the tenant of a request: by a host name of its own, or by `/t/{id}` on the server's own host names. The default
 * tenant needs neither. No other function derives a tenant from an address.
 *
 * @param host the `Host` header
 * @param path of the request's target
 * @returns null for an unknown host name
 * @throws ConfigError when the tenant's stored settings have become invalid
 */
export async function locate(runtime: Runtime, host: string | null, path: string): Promise<Located | null> {
  const { config, tenant, tenants } = runtime;
  const name = host === null ? null : hostName(host);
  const hostOwner = name === null || isServerHost(name, config) ? null : await tenants.byHost(name);
  if (hostOwner) return { tenant: hostOwner, path };
  if (!isKnownHost(host, config)) return null;
  const [, id, rest = "/"] = underPrefix.exec(path.replace(insertedPrefix, "$2$1")) ?? [];
  if (id === undefined) return { tenant, path };
  const named = isCanonicalUuid(id) ? await tenants.byId(id) : null;
  // Each tenant has one address: a tenant with a host name is not found by path.
  const reachable = named && (named === tenant || pathPrefix(named.config) !== "");
  return { tenant: reachable ? named : null, path: rest };
}

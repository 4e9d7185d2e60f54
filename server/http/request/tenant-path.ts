import type { Config } from "../../config/schema.ts";

/** Tenants without a host name of their own are below it. */
export const TENANTS_PATH = "/t";

/** The prefix of a tenant's addresses: empty, or `/t/{id}` for a tenant without a host name of its own. */
export function pathPrefix({ base_url }: Pick<Config, "base_url">): string {
  const start = base_url.indexOf("/", base_url.indexOf("//") + 2);
  return start < 0 ? "" : base_url.slice(start);
}

/**
 * Adds the tenant's prefix to an address of the API or of a page.
 *
 * @param address begins with a slash
 */
export function withinTenant(config: Pick<Config, "base_url">, address: string): string {
  const prefix = pathPrefix(config);
  // Addresses of pages do not end in a slash.
  return prefix !== "" && /^\/(?:\?|$)/.test(address) ? prefix + address.slice(1) : prefix + address;
}

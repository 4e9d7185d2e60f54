import type { Config } from "../config/schema.ts";

/** What stands before each of a tenant's addresses: nothing, or `/t/{id}` where it has no host name of its own. */
export function pathPrefix({ base_url }: Pick<Config, "base_url">): string {
  const start = base_url.indexOf("/", base_url.indexOf("//") + 2);
  return start < 0 ? "" : base_url.slice(start);
}

/**
 * An address of the table, or of a page, as browsers reach it.
 *
 * @param address begins with a slash
 */
export function withinTenant(config: Pick<Config, "base_url">, address: string): string {
  const prefix = pathPrefix(config);
  // A page has no slash at its end.
  return prefix !== "" && /^\/(?:\?|$)/.test(address) ? prefix + address.slice(1) : prefix + address;
}

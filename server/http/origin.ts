import type { Config } from "../config/schema.ts";

/** What a browser says about where a request comes from (Fetch Metadata, and RFC 6454). */
export interface Provenance {
  /** `Sec-Fetch-Site` */
  site: string | null;
  /** `Origin` */
  origin: string | null;
  /** `Host` */
  host: string | null;
}

export function provenanceOf(headers: Headers): Provenance {
  return { site: headers.get("sec-fetch-site"), origin: headers.get("origin"), host: headers.get("host") };
}

/**
 * Whether a browser sent this for a page of ours. Says no when nothing tells.
 *
 * `Sec-Fetch-Site` decides when it is there: no page can set it, and a form of a page with a strict referrer policy
 * carries `Origin: null` although it is our own.
 */
export function isSameOrigin({ site, origin, host }: Provenance, config: Config): boolean {
  if (site !== null) return site === "same-origin";
  if (origin === null) return false;
  return origin === originOf(config.base_url) || (host !== null && originHost(origin) === host.toLowerCase());
}

/**
 * Whether a browser sent this for a page of somebody else that is not on the list of `cors.allow_origins`. Clients
 * that are no browsers say nothing of where they come from, and are let through.
 */
export function isForeign(provenance: Provenance, config: Config): boolean {
  const { site, origin } = provenance;
  if (origin !== null && isAllowedOrigin(origin, config)) return false;
  if (origin !== null) return !isSameOrigin(provenance, config);
  return site === "cross-site";
}

/** Whether another origin may call this service with credentials. Exactly as listed: no patterns, no `null`. */
export function isAllowedOrigin(origin: string, config: Config): boolean {
  return origin !== "null" && config.cors.allow_origins.includes(origin);
}

function originOf(baseUrl: string): string {
  return new URL(baseUrl).origin;
}

function originHost(origin: string): string | null {
  return URL.canParse(origin) ? new URL(origin).host : null;
}

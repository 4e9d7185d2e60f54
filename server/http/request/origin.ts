import { ownOrigin } from "../../config/own-hosts.ts";
import type { Config } from "../../config/schema.ts";
import type { RequestHeaders } from "./api-request.ts";

/**
 * Whether a browser sent a request for a page of our own. False if the headers do not say (Fetch Metadata, RFC 6454).
 *
 * `Sec-Fetch-Site` decides where it is present: pages cannot set it, and a form of a page with a strict referrer policy
 * has `Origin: null` although it is our own.
 */
export function isSameOrigin(headers: RequestHeaders, config: Config): boolean {
  const site = headers.get("sec-fetch-site");
  if (site !== null) return site === "same-origin";
  const origin = headers.get("origin");
  if (origin === null) return false;
  const host = headers.get("host")?.toLowerCase();
  return origin === ownOrigin(config) || (host !== undefined && hostOf(origin) === host);
}

/**
 * Whether a browser sent a request for a page of another site that `cors.allow_origins` does not list. Clients other
 * than browsers send no such headers, and are accepted.
 */
export function isDisallowedOrigin(headers: RequestHeaders, config: Config): boolean {
  const origin = headers.get("origin");
  if (origin === null) return headers.get("sec-fetch-site") === "cross-site";
  return !isAllowedOrigin(origin, config) && !isSameOrigin(headers, config);
}

/** The header in which a page of another origin sends the flow that it holds (`flow_token` of an answer over tRPC). */
const FLOW_HEADER = "x-stile-flow";

/** A page of `cors.allow_origins` that calls the flow over tRPC. */
export interface OtherOrigin {
  origin: string;
  /** The sealed flow that the page holds; null at the start. */
  token: string | null;
}

/** The page of another origin that makes a call; null for our own pages. */
export function otherOriginOf(headers: RequestHeaders, config: Config): OtherOrigin | null {
  const origin = headers.get("origin");
  if (origin === null || isSameOrigin(headers, config) || !isAllowedOrigin(origin, config)) return null;
  return { origin, token: headers.get(FLOW_HEADER) };
}

/** Whether another origin may call this service with credentials. Compared exactly: no patterns, no `null`. */
export function isAllowedOrigin(origin: string, config: Config): boolean {
  return origin !== "null" && config.cors.allow_origins.includes(origin);
}

function hostOf(origin: string): string | null {
  return URL.canParse(origin) ? new URL(origin).host : null;
}

import { isIP } from "node:net";
import { ownHosts } from "../../config/own-hosts.ts";
import type { Config } from "../../config/schema.ts";
import type { RequestHeaders } from "./api-request.ts";
import { isLoopback } from "./client-address.ts";

/**
 * Whether this service answers to a `Host` header. Unknown names are rejected, which protects against DNS rebinding
 * and forged headers. The request target names no other host: the listener rejects targets in absolute form.
 *
 * @param host the `Host` header; HTTP/1.0 may leave it out
 */
export function isKnownHost(host: string | null, config: Config): boolean {
  if (host === null) return true;
  const name = hostName(host);
  return isServerHost(name, config) || name.endsWith(".localhost");
}

/**
 * Whether a host name is the server's own, so that it cannot be a tenant's: the names of the configuration, IP
 * addresses, and names without a dot, which exist only inside a network.
 */
export function isServerHost(name: string, config: Config): boolean {
  return !name.includes(".") || isIP(name) > 0 || ownHosts(config).includes(name);
}

/**
 * Whether a request was made on this machine and for this machine, by its connection, every proxy it names, and the
 * host name.
 *
 * @param peer address of the other end of the connection
 */
export function isLocalRequest(headers: RequestHeaders, peer: string): boolean {
  const hops = headers.get("x-forwarded-for")?.split(",") ?? [];
  if (headers.has("forwarded") || ![peer, ...hops].every(isLoopback)) return false;
  const name = hostName(headers.get("host") ?? "");
  return name === "localhost" || name.endsWith(".localhost") || isLoopback(name);
}

/** The name in a `Host` header, in lower case, without port and brackets. */
export function hostName(host: string): string {
  const [, bracketed, plain] = /^(?:\[([^\]]*)\]|([^:]*))(?::\d*)?$/.exec(host.toLowerCase()) ?? [];
  return bracketed ?? plain ?? host;
}

import { isIP } from "node:net";
import type { Config } from "../config/schema.ts";
import { isLoopback } from "./client-address.ts";

/**
 * Whether the service answers to this `Host`: its own, those of `server.hosts`, an address, and names without a
 * dot, which only exist inside a network. No other name is answered, so that none that somebody points here
 * (DNS rebinding) or writes into the header comes to anything. The request's target names no other host: the
 * listener refuses targets in absolute form.
 *
 * @param host the `Host` header; HTTP/1.0 may leave it out
 */
export function isKnownHost(host: string | null, config: Config): boolean {
  if (host === null) return true;
  const name = hostName(host);
  if (!name.includes(".") || isIP(name) > 0 || name.endsWith(".localhost")) return true;
  return (
    name === new URL(config.base_url).hostname ||
    config.server.hosts.some((known) => known.toLowerCase() === name)
  );
}

/**
 * Whether a request was made on this machine, for this machine: its connection, every proxy it names, and the
 * name it asks for.
 *
 * @param peer address of the other end of the connection
 */
export function isOwnMachine(headers: Headers, peer: string): boolean {
  const hops = headers.get("x-forwarded-for")?.split(",") ?? [];
  if (headers.has("forwarded") || ![peer, ...hops].every(isLoopback)) return false;
  const name = hostName(headers.get("host") ?? "");
  return name === "localhost" || name.endsWith(".localhost") || isLoopback(name);
}

/** The name that a `Host` header gives, in lower case, without port and brackets. */
export function hostName(host: string): string {
  const [, bracketed, plain] = /^(?:\[([^\]]*)\]|([^:]*))(?::\d*)?$/.exec(host.toLowerCase()) ?? [];
  return bracketed ?? plain ?? host;
}

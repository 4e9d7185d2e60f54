import type { BlockList } from "node:net";
import type { Runtime } from "../../runtime.ts";
import type { RequestHeaders } from "./api-request.ts";
import { clientAddress, isTrusted, trustedProxies } from "./client-address.ts";

const proxies = new WeakMap<Runtime, BlockList>();

/**
 * The address of the client that sent a request; see `clientAddress`.
 *
 * @param peer address of the other end of the connection
 */
export function requestAddress(runtime: Runtime, headers: RequestHeaders, peer: string): string {
  return clientAddress(peer, headers.get("x-forwarded-for"), proxiesOf(runtime));
}

/**
 * Whether the other end of a connection is one of `server.trusted_proxies`.
 *
 * @param peer its address, in any notation
 */
export function isTrustedProxy(runtime: Runtime, peer: string): boolean {
  return isTrusted(peer, proxiesOf(runtime));
}

function proxiesOf(runtime: Runtime): BlockList {
  const trusted = proxies.get(runtime) ?? trustedProxies(runtime.config.server.trusted_proxies);
  proxies.set(runtime, trusted);
  return trusted;
}

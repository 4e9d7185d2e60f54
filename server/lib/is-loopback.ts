/**
 * Whether a host is the same machine, to which secrets may be sent in the clear.
 *
 * @param hostname as `URL` writes it: IPv6 in brackets
 */
export function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127(\.\d{1,3}){3}$/.test(hostname);
}

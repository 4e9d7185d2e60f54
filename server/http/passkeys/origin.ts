import type { Config } from "../../config/schema.ts";

/** Scheme, host name of 253 characters (RFC 1035, 2.3.4) and port; bounds the work of the patterns. */
const MAX_ORIGIN_LENGTH = "https://".length + 253 + ":65535".length;

/**
 * Whether pages of an origin may call the passkey server: the origins that the tenant lists, else the relying party's.
 * `*` stands for one or more labels of a host name. The configuration rejects an unintended pattern for every host.
 */
export function isPasskeyOrigin(origin: string, { passkey_server }: Config): boolean {
  const { cors, relying_party } = passkey_server;
  if (origin === "null" || origin.length > MAX_ORIGIN_LENGTH) return false;
  const listed = cors.allowed_origins.length > 0 ? cors.allowed_origins : relying_party.origins;
  return listed.some((entry) => matches(entry.toLowerCase(), origin));
}

/** @param origin as browsers send it, in lower case */
function matches(entry: string, origin: string): boolean {
  if (entry === "*" || entry === origin) return true;
  if (!entry.includes("*")) return false;
  const [, scheme = "https://", host = ""] = /^(https?:\/\/)?(.*)$/.exec(entry) ?? [];
  const labels = host.split("*").map((part) => part.replace(/[^a-z0-9-]/g, "\\$&"));
  return new RegExp(`^${scheme}${labels.join("[a-z0-9-]+(?:\\.[a-z0-9-]+)*")}$`).test(origin);
}

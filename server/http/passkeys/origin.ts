import type { Config } from "../../config/schema.ts";

/** Scheme, a name of 253 characters (RFC 1035, 2.3.4) and a port: patterns are tried on nothing longer. */
const MAX_ORIGIN_LENGTH = "https://".length + 253 + ":65535".length;

/**
 * Whether pages of an origin may call the passkey server: the relying party's own, or those that the tenant lists,
 * where `*` stands for one label or more of a host name. A start refuses a list that lets in every host unmeant.
 */
export function isPasskeyOrigin(origin: string, { passkey_server }: Config): boolean {
  const { cors, relying_party } = passkey_server;
  if (origin === "null" || origin.length > MAX_ORIGIN_LENGTH) return false;
  const listed = cors.allowed_origins.length > 0 ? cors.allowed_origins : relying_party.origins;
  return listed.some((entry) => matches(entry.toLowerCase(), origin));
}

/** @param origin as browsers write it, in small letters */
function matches(entry: string, origin: string): boolean {
  if (entry === "*" || entry === origin) return true;
  if (!entry.includes("*")) return false;
  const [, scheme = "https://", host = ""] = /^(https?:\/\/)?(.*)$/.exec(entry) ?? [];
  const labels = host.split("*").map((part) => part.replace(/[^a-z0-9-]/g, "\\$&"));
  return new RegExp(`^${scheme}${labels.join("[a-z0-9-]+(?:\\.[a-z0-9-]+)*")}$`).test(origin);
}

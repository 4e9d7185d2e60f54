import type { Config } from "../config/schema.ts";
import { identifierKinds } from "../identity/identifiers.ts";

/** What the settings of the audit log mask. */
type Masking = Pick<Config["audit_log"], "mask" | "mask_ip_addresses">;

/**
 * Masks an email address or a username: its first character stays, and the domain. A masked name stays as it is.
 *
 * @returns for instance `j***@example.com`, `j***`
 */
export function maskName(name: string): string {
  const at = name.lastIndexOf("@");
  const [first = ""] = at < 0 ? name : name.slice(0, at);
  return `${first}***${at < 0 ? "" : name.slice(at)}`;
}

/**
 * Masks an IP address: an IPv4 address becomes its /24, an IPv6 address or prefix its /48. A masked one stays as it is,
 * and so does text that is not an address.
 *
 * @param address in canonical form
 */
export function maskAddress(address: string): string {
  if (/^[\d.]+$/.test(address)) return address.replace(/\.\d+$/, ".0");
  if (!address.includes(":")) return address;
  const [head = ""] = address.replace(/\/\d+$/, "").split("::");
  const groups = [...head.split(":").filter(Boolean), "0", "0", "0"].slice(0, 3);
  while (groups.at(-1) === "0") groups.pop();
  return `${groups.join(":")}::`;
}

/**
 * Writes the network of an IP address so that it is not taken for an address: `192.0.2.x`, `2001:db8:1:…`.
 *
 * @param address an address, or a masked one
 */
export function shownNetwork(address: string): string {
  const masked = maskAddress(address);
  if (!masked.includes(":")) return /^[\d.]+$/.test(masked) ? masked.replace(/\.0$/, ".x") : masked;
  const groups = [...masked.split(":").filter(Boolean), "0", "0", "0"].slice(0, 3);
  return `${groups.join(":")}:…`;
}

/** Members of an entry's details that hold an email address, a username or a phone number. */
const nameMembers: readonly string[] = identifierKinds.flatMap((kind) => [kind, `previous_${kind}`]);

/** Members that hold an IP address or a prefix. */
const addressMembers = ["source", "ip_address"];

/** Masks the details of an entry. Which member holds what is known by its name. */
export function maskDetails<Value>(
  details: Record<string, Value>,
  { mask, mask_ip_addresses }: Masking,
): Record<string, Value | string> {
  return Object.fromEntries(
    Object.entries(details).map(([name, value]): [string, Value | string] => {
      if (typeof value !== "string") return [name, value];
      if (mask && nameMembers.includes(name)) return [name, maskName(value)];
      return [name, mask_ip_addresses && addressMembers.includes(name) ? maskAddress(value) : value];
    }),
  );
}

/** Masks the IP address of an entry, if the settings say so. */
export function maskSource(address: string | null, { mask_ip_addresses }: Masking): string | null {
  return address !== null && mask_ip_addresses ? maskAddress(address) : address;
}

import { isIPv6 } from "node:net";
import { Reader } from "mmdb-lib";
import { z } from "zod";
import { canonicalAddress } from "../lib/ip-address.ts";
import type { Location, Locations } from "./location.ts";

/** PostgreSQL does not accept NUL. */
const name = z
  .string()
  .min(1)
  .max(128)
  .refine((text) => !text.includes("\0"));

const place = z.object({ names: z.object({ en: name.optional() }).optional(), iso_code: name.optional() });

/** The used members of a record: those of MaxMind's databases City and Country, which other vendors have too. */
const record = z.object({
  country: place.optional(),
  subdivisions: z.array(place).optional(),
  city: place.optional(),
});

/** Bytes of zeros between tree and data (MaxMind DB File Format Specification 2.0, "Binary Search Tree Section"). */
const SEPARATOR_BYTES = 16;

/** Records that are read to find out whether the database has places. */
const MAX_EXAMINED_RECORDS = 100;

/**
 * Parses a database of places (MaxMind DB File Format Specification 2.0). Its structure and its first records are checked; the
 * others are read when they are needed.
 *
 * @returns why it is rejected, a sentence without its subject
 */
export function readLocations(
  file: Buffer,
): { ok: true; locations: Locations } | { ok: false; reason: string } {
  const reader = openReader(file);
  if (!reader) return { ok: false, reason: "is not a complete MaxMind database" };
  if (!hasPlaces(reader))
    return { ok: false, reason: "has no places in the form of MaxMind's databases City and Country" };
  const { ipVersion } = reader.metadata;
  const find: Locations["find"] = (address) => {
    const canonical = canonicalAddress(address);
    // The library would look up the first bits of the IPv6 address among those of IPv4.
    if (canonical === null || (ipVersion === 4 && isIPv6(canonical))) return null;
    return locationOf(reader.get(canonical));
  };
  return { ok: true, locations: { find } };
}

/** Whether one of the first records, in the order of their networks, is a place. A damaged record is none. */
function hasPlaces(reader: Reader<never>): boolean {
  const bits = reader.metadata.ipVersion === 4 ? 32n : 128n;
  let examined = 0;
  try {
    for (let address = 0n; address < 1n << bits && examined < MAX_EXAMINED_RECORDS; ) {
      const [found, prefix] = reader.getWithPrefixLength(bits === 32n ? ipv4(address) : ipv6(address));
      if (locationOf(found)) return true;
      if (found !== null) examined++;
      const rest = bits - BigInt(prefix);
      address = ((address >> rest) + 1n) << rest;
    }
    return false;
  } catch {
    return false;
  }
}

const ipv4 = (address: bigint) => [24n, 16n, 8n, 0n].map((shift) => (address >> shift) & 0xffn).join(".");

const ipv6 = (address: bigint) => (address.toString(16).padStart(32, "0").match(/.{4}/g) ?? []).join(":");

/** @returns null if tree and data do not fit into the file */
function openReader(file: Buffer): Reader<never> | null {
  try {
    const reader = new Reader<never>(file);
    const { binaryFormatMajorVersion, ipVersion, nodeCount, searchTreeSize } = reader.metadata;
    const separator = file.subarray(searchTreeSize, searchTreeSize + SEPARATOR_BYTES);
    const isWhole =
      binaryFormatMajorVersion === 2 &&
      (ipVersion === 4 || ipVersion === 6) &&
      nodeCount > 0 &&
      separator.equals(Buffer.alloc(SEPARATOR_BYTES));
    return isWhole ? reader : null;
  } catch {
    return null;
  }
}

function locationOf(found: unknown): Location | null {
  const read = record.safeParse(found);
  if (!read.success) return null;
  const { country, subdivisions, city } = read.data;
  const names = {
    country: country?.names?.en ?? country?.iso_code,
    region: subdivisions?.[0]?.names?.en ?? subdivisions?.[0]?.iso_code,
    city: city?.names?.en,
  };
  const known = Object.entries(names).filter(([, text]) => text !== undefined);
  return known.length > 0 ? Object.fromEntries(known) : null;
}

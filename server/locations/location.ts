import type { Logger } from "pino";

/** The place of a browser, by English names. A member that is not known is absent. */
export interface Location {
  country?: string;
  /** The largest subdivision of the country, such as a state. */
  region?: string;
  city?: string;
}

/** The places of IP addresses. */
export interface Locations {
  /**
   * @param address IPv4 or IPv6, unvalidated
   * @returns null if the address is not in the database, or is not an address
   * @throws Error if the record is damaged
   */
  find(address: string): Location | null;
}

/**
 * Finds the place of a browser in the configured database. A damaged record is logged and counts as unknown.
 *
 * @param address unvalidated; undefined if it is unknown
 */
export function locate(
  { locations, log }: { locations: Locations | null; log: Pick<Logger, "warn"> },
  address: string | undefined,
): Location | null {
  if (!locations || address === undefined) return null;
  try {
    return locations.find(address);
  } catch (error) {
    log.warn({ err: error }, "a record of authenticator.location_file is damaged");
    return null;
  }
}

/** What names the places of IP addresses. */
export interface Places {
  /** Of `authenticator.location_file`; null without one. */
  locations: Locations | null;
}

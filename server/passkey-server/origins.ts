import type { Config } from "../config/schema.ts";

/**
 * Returns the origins that a ceremony may come from. Web origins are compared case-insensitively, app origins exactly.
 *
 * @param origin as stated in the client data
 */
export function acceptedOrigins({ passkey_server }: Config, origin: string): string[] {
  const { origins } = passkey_server.relying_party;
  const isListed = origins.some(
    (listed) => /^https?:/i.test(listed) && listed.toLowerCase() === origin.toLowerCase(),
  );
  return isListed ? [...origins, origin] : origins;
}

/** Returns the details of the error for a response from a foreign origin; null if the origin is accepted. */
export function originMismatchDetails(config: Config, origin: string): string | null {
  if (acceptedOrigins(config, origin).includes(origin)) return null;
  return "the page's origin is not one of the relying party's (passkey_server.relying_party.origins)";
}

import type { Config } from "../config/schema.ts";

/**
 * Origins that a ceremony may come from. Web origins are the same in any case of letters; the names of apps are not.
 *
 * @param said the origin that the client's data names
 */
export function acceptedOrigins({ passkey_server }: Config, said: string): string[] {
  const { origins } = passkey_server.relying_party;
  const isListed = origins.some(
    (origin) => /^https?:/i.test(origin) && origin.toLowerCase() === said.toLowerCase(),
  );
  return isListed ? [...origins, said] : origins;
}

/** What to tell those who build clients of an answer from a page elsewhere; null for one that is not. */
export function originMismatchDetails(config: Config, said: string): string | null {
  if (acceptedOrigins(config, said).includes(said)) return null;
  return "the page's origin is none of the relying party's (passkey_server.relying_party.origins)";
}

import type { Config } from "../config.ts";

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

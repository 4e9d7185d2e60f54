import type { Config } from "../config/schema.ts";

/**
 * Origins that may run ceremonies: those of the relying party and its related origins (WebAuthn Level 3 section 5.11),
 * without duplicates, as they appear in client data.
 */
export function ceremonyOrigins({ webauthn }: Pick<Config, "webauthn">): string[] {
  return [...new Set([...webauthn.relying_party.origins, ...webauthn.related_origins])];
}

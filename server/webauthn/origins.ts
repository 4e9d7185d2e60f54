import type { Config } from "../config/schema.ts";

/**
 * Origins whose pages may hold ceremonies: the relying party's own, and those of other domains that are named as
 * related (WebAuthn Level 3 section 5.11). Each once, exactly as a client's data carries it.
 */
export function ceremonyOrigins({ webauthn }: Pick<Config, "webauthn">): string[] {
  return [...new Set([...webauthn.relying_party.origins, ...webauthn.related_origins])];
}

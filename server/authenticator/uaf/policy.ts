import type { AuthenticatorMetadata } from "./metadata.ts";

/** UAF Protocol Specification 1.1, dictionary MatchCriteria, as far as it is used here. */
export interface MatchCriteria {
  aaid: [string];
  /** base64url; any key when absent. */
  keyIDs?: string[];
}

/**
 * UAF Protocol Specification 1.1, dictionary Policy. Each inner list of `accepted` is a combination of authenticators, of
 * which any will do; here each has one, by its model alone. The published Android client considers no others.
 */
export interface Policy {
  accepted: [MatchCriteria][];
  disallowed?: MatchCriteria[];
}

/** A key, as requests and answers name it. */
export interface KeyName {
  aaid: string;
  /** base64url */
  keyId: string;
}

/** Authenticators that shall not register: all of a model, or the one that has this key already. */
export type Disallowed = Omit<KeyName, "keyId"> & Partial<KeyName>;

/** What a registration asks for: any of these models that was not revoked, but none that is disallowed. */
export function registrationPolicy(
  accepted: readonly AuthenticatorMetadata[],
  disallowed: readonly Disallowed[] = [],
): Policy {
  const models = accepted.filter(({ revoked }) => !revoked);
  return {
    accepted: models.map(({ aaid }) => [{ aaid: [aaid] }]),
    ...(disallowed.length > 0 ? { disallowed: criteria(disallowed) } : {}),
  };
}

/** What an authentication asks for: any of these keys. */
export function authenticationPolicy(keys: readonly KeyName[]): Policy {
  return { accepted: criteria(keys).map((each) => [each]) };
}

export function isDisallowed(key: KeyName, disallowed: readonly Disallowed[] = []): boolean {
  return disallowed.some(({ aaid, keyId = key.keyId }) => aaid === key.aaid && keyId === key.keyId);
}

/** One for each model; where a whole model is meant, keys of it do not matter. */
function criteria(keys: readonly Disallowed[]): MatchCriteria[] {
  return [...Map.groupBy(keys, ({ aaid }) => aaid)].map(([aaid, own]) => {
    const keyIDs = own.flatMap(({ keyId }) => keyId ?? []);
    return { aaid: [aaid], ...(keyIDs.length === own.length ? { keyIDs } : {}) };
  });
}

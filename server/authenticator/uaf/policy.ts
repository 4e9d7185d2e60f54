import type { AuthenticatorMetadata } from "./metadata.ts";

/** The used members of dictionary MatchCriteria (UAF Protocol Specification 1.1). */
export interface MatchCriteria {
  aaid: [string];
  /** base64url. Absent: any key. */
  keyIDs?: string[];
}

/**
 * Dictionary Policy (UAF Protocol Specification 1.1). Each inner list of `accepted` is a combination of authenticators.
 * The server sends lists of one authenticator, because the published Android client ignores longer ones.
 */
export interface Policy {
  accepted: [MatchCriteria][];
  disallowed?: MatchCriteria[];
}

/** The identifier of a key in requests and responses. */
export interface KeyName {
  aaid: string;
  /** base64url */
  keyId: string;
}

export const isSameKey = (one: KeyName, other: KeyName) =>
  one.aaid === other.aaid && one.keyId === other.keyId;

/** Authenticators that must not register: a whole model, or the one that holds this key. */
export type Disallowed = Omit<KeyName, "keyId"> & Partial<KeyName>;

/** Builds the policy of a registration: any accepted model that is not revoked, except the disallowed authenticators. */
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

/** Builds the policy of an authentication: any of these keys. */
export function authenticationPolicy(keys: readonly KeyName[]): Policy {
  return { accepted: criteria(keys).map((each) => [each]) };
}

export function isDisallowed(key: KeyName, disallowed: readonly Disallowed[] = []): boolean {
  return disallowed.some(({ aaid, keyId = key.keyId }) => aaid === key.aaid && keyId === key.keyId);
}

/** Builds one criterion for each model; a whole model takes precedence over its keys. */
function criteria(keys: readonly Disallowed[]): MatchCriteria[] {
  return [...Map.groupBy(keys, ({ aaid }) => aaid)].map(([aaid, own]) => {
    const keyIDs = own.flatMap(({ keyId }) => keyId ?? []);
    return { aaid: [aaid], ...(keyIDs.length === own.length ? { keyIDs } : {}) };
  });
}

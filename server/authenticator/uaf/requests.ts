import type { Operation } from "./messages.ts";
import type { AuthenticatorMetadata } from "./metadata.ts";
import { authenticationPolicy, type Disallowed, type KeyName, registrationPolicy } from "./policy.ts";
import { transactionOf } from "./transaction.ts";
import { supportedVersions } from "./versions.ts";

/**
 * Creates a request for a new key (UAF Protocol Specification 1.1, dictionary RegistrationRequest).
 *
 * @param wanted.challenge base64url of 8 to 64 bytes
 * @param wanted.username 1 to 128 characters, for the user to tell accounts apart
 * @param wanted.accepted models that may register; at least one that is not revoked
 * @param wanted.disallowed authenticators that must not register
 * @returns JSON: an array of messages, one for each version
 */
export function createRegistrationRequest(wanted: {
  appId: string;
  challenge: string;
  username: string;
  accepted: readonly AuthenticatorMetadata[];
  disallowed?: readonly Disallowed[];
}): string {
  return messagesForEachVersion("Reg", wanted.appId, {
    challenge: wanted.challenge,
    username: wanted.username,
    policy: registrationPolicy(wanted.accepted, wanted.disallowed),
  });
}

/**
 * Creates a request for a signature by one of the keys (UAF Protocol Specification 1.1, dictionary
 * AuthenticationRequest).
 *
 * @param wanted.challenge base64url of 8 to 64 bytes
 * @param wanted.transaction text for the user to confirm, see `modelThatCannotShow`; null for none
 * @param wanted.keys at least one
 * @returns as above
 */
export function createAuthenticationRequest(wanted: {
  appId: string;
  challenge: string;
  transaction: string | null;
  keys: readonly KeyName[];
}): string {
  return messagesForEachVersion("Auth", wanted.appId, {
    challenge: wanted.challenge,
    ...(wanted.transaction === null ? {} : { transaction: [transactionOf(wanted.transaction)] }),
    policy: authenticationPolicy(wanted.keys),
  });
}

/**
 * Creates a request to delete keys (UAF Protocol Specification 1.1, dictionary DeregistrationRequest). Clients do not
 * prove that they deleted them.
 *
 * @param wanted.authenticators keys; an empty `keyID` means all keys of a model, an empty `aaid` as well all keys
 * @returns as above
 */
export function createDeregistrationRequest(wanted: {
  appId: string;
  authenticators: readonly { aaid: string; keyID: string }[];
}): string {
  const authenticators = wanted.authenticators.map(({ aaid, keyID }) => ({ aaid, keyID }));
  return messagesForEachVersion("Dereg", wanted.appId, { authenticators });
}

function messagesForEachVersion(op: Operation, appID: string, members: Record<string, unknown>): string {
  return JSON.stringify(supportedVersions.map((upv) => ({ header: { upv, op, appID }, ...members })));
}

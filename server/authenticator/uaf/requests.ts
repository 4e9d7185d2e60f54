import type { Operation } from "./messages.ts";
import type { AuthenticatorMetadata } from "./metadata.ts";
import { authenticationPolicy, type Disallowed, type KeyName, registrationPolicy } from "./policy.ts";
import { transactionOf } from "./transaction.ts";
import { offeredVersions } from "./versions.ts";

/**
 * Asks for a new key: UAF Protocol Specification 1.1, dictionary RegistrationRequest.
 *
 * @param wanted.challenge base64url of 8 to 64 bytes
 * @param wanted.username 1 to 128 characters, for the user to tell accounts apart
 * @param wanted.accepted models that may register; at least one that is not revoked
 * @param wanted.disallowed authenticators that shall not
 * @returns an array of messages, one for each version, as the text that clients are handed
 */
export function registrationRequest(wanted: {
  appId: string;
  challenge: string;
  username: string;
  accepted: readonly AuthenticatorMetadata[];
  disallowed?: readonly Disallowed[];
}): string {
  return forEachVersion("Reg", wanted.appId, {
    challenge: wanted.challenge,
    username: wanted.username,
    policy: registrationPolicy(wanted.accepted, wanted.disallowed),
  });
}

/**
 * Asks for a signature by one of some keys: UAF Protocol Specification 1.1, dictionary AuthenticationRequest.
 *
 * @param wanted.challenge base64url of 8 to 64 bytes
 * @param wanted.transaction text to show and to confirm, see `isTransactionText`; null for none
 * @param wanted.keys one at least
 * @returns as above
 */
export function authenticationRequest(wanted: {
  appId: string;
  challenge: string;
  transaction: string | null;
  keys: readonly KeyName[];
}): string {
  return forEachVersion("Auth", wanted.appId, {
    challenge: wanted.challenge,
    ...(wanted.transaction === null ? {} : { transaction: [transactionOf(wanted.transaction)] }),
    policy: authenticationPolicy(wanted.keys),
  });
}

/**
 * Tells a client to forget keys: UAF Protocol Specification 1.1, dictionary DeregistrationRequest. Nobody proves that it did.
 *
 * @param wanted.authenticators keys; with an empty `keyID` all of a model, with an empty `aaid` as well all there are
 * @returns as above
 */
export function deregistrationRequest(wanted: {
  appId: string;
  authenticators: readonly { aaid: string; keyID: string }[];
}): string {
  const authenticators = wanted.authenticators.map(({ aaid, keyID }) => ({ aaid, keyID }));
  return forEachVersion("Dereg", wanted.appId, { authenticators });
}

function forEachVersion(op: Operation, appID: string, members: Record<string, unknown>): string {
  return JSON.stringify(offeredVersions.map((upv) => ({ header: { upv, op, appID }, ...members })));
}

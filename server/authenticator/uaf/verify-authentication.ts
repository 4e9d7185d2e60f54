import { algorithms } from "./algorithms.ts";
import { modes } from "./assertion-info.ts";
import { assertionScheme, readAssertion } from "./assertion-scheme.ts";
import { authenticationAssertionOf } from "./authentication-assertion.ts";
import { authenticationResponse } from "./messages.ts";
import type { AuthenticatorMetadata } from "./metadata.ts";
import type { KeyName } from "./policy.ts";
import { importPublicKey } from "./public-keys.ts";
import { rejectUaf, type UafRefusal } from "./rejections.ts";
import { transactionContentHash } from "./transaction.ts";
import { type ExpectedResponse, judgeResponse } from "./verify-response.ts";
import { verifies } from "./verify-signature.ts";

/** A key as its registration left it. */
export interface RegisteredKey extends KeyName {
  publicKey: Buffer;
  keyFormat: number;
  algorithm: number;
  signCounter: number;
}

export interface ExpectedAuthentication extends ExpectedResponse {
  /** The text that was to be confirmed; null for none. */
  transaction: string | null;
  /** Keys of the user's that were asked for. */
  keys: readonly RegisteredKey[];
  /** Models that may authenticate. */
  accepted: readonly AuthenticatorMetadata[];
  /** Whether what published clients do wrong is refused: padding, numbers that are no DER. */
  strict: boolean;
}

/** A key that has signed, and what to remember of it. */
export interface UafAssertion extends KeyName {
  signCounter: number;
  authenticatorVersion: number;
}

/**
 * Judges the answer to an authentication request, UAF Protocol Specification 1.1, section 3.5.7.5. Knows no database:
 * whether the challenge was open is for the caller to find out. Throws nothing, whatever the answer is.
 *
 * @param uafResponse a message: in an array, alone, or wrapped as client interfaces do
 * @returns the assertions that hold, one at least; where none does, what is wrong with the first
 */
export function judgeAuthentication(
  uafResponse: string,
  expected: ExpectedAuthentication,
): { ok: true; assertions: UafAssertion[] } | UafRefusal {
  // Ensure the message is what it must be, whatever it asserts (steps 1 to 3).
  const response = judgeResponse(uafResponse, "Auth", authenticationResponse, expected);
  if (!response.ok) return response;

  const assertions: UafAssertion[] = [];
  const refusals: UafRefusal[] = [];
  for (const sent of response.message.assertions) {
    const judged = verifyUafAssertion(sent, response.finalChallengeHash, expected);
    if (!judged.ok) refusals.push(judged);
    else if (!assertions.some((other) => isSameKey(other, judged.assertion)))
      assertions.push(judged.assertion);
  }

  // Ensure that one of them holds at least.
  if (assertions.length === 0) return refusals[0] ?? rejectUaf("message_malformed");
  return { ok: true, assertions };
}

function verifyUafAssertion(
  sent: { assertionScheme: string; assertion: string },
  finalChallengeHash: Buffer,
  expected: ExpectedAuthentication,
): { ok: true; assertion: UafAssertion } | UafRefusal {
  // Ensure it is of the scheme that is known (step 4).
  if (sent.assertionScheme !== assertionScheme) return rejectUaf("scheme_unknown");

  // Ensure it has every member, once and in order, and nothing else (step 4).
  const assertion = readAssertion(sent.assertion, authenticationAssertionOf, expected.strict);
  if (!assertion) return rejectUaf("assertion_malformed");
  const { aaid, info, signCounter } = assertion;
  const keyId = assertion.keyId.toString("base64url");

  // Ensure the model is known, and was not revoked since.
  const metadata = expected.accepted.find((model) => model.aaid === aaid);
  if (!metadata) return rejectUaf("aaid_unknown");
  if (metadata.revoked) return rejectUaf("authenticator_revoked");

  // Ensure the key is one of those that were asked for (step 5).
  const registered = expected.keys.find((key) => isSameKey(key, { aaid, keyId }));
  if (!registered) return rejectUaf("key_unknown");

  // Ensure the algorithm is one of the model's, and one that this key signs by.
  const algorithm = metadata.algorithms.includes(info.algorithm) ? algorithms.get(info.algorithm) : undefined;
  if (!algorithm || algorithm.key !== algorithms.get(registered.algorithm)?.key)
    return rejectUaf("algorithm_unacceptable");

  // Ensure the authenticator is not older than is accepted.
  if (info.authenticatorVersion < metadata.version) return rejectUaf("version_too_old");

  // Ensure it was made for this final challenge (step 6).
  if (!assertion.finalChallengeHash.equals(finalChallengeHash))
    return rejectUaf("final_challenge_hash_mismatch");

  const key = importPublicKey(registered.publicKey, registered.keyFormat, algorithm.key);
  if (!key) return rejectUaf("public_key_unacceptable");
  const signed = verifies(algorithm, key, assertion.signed, assertion.signature, expected.strict);

  // Ensure the counter grew, unless the authenticator does not count: otherwise there may be two of it (step 7). Only
  // one that the key itself has signed is worth an alarm.
  const counts = signCounter !== 0 || registered.signCounter !== 0;
  if (signed && counts && signCounter <= registered.signCounter) return rejectUaf("sign_counter");

  // Ensure content was shown if there was any, and only then (step 8).
  const { transaction } = expected;
  const mode = transaction === null ? modes.userVerified : modes.transactionConfirmed;
  if (info.mode !== mode) return rejectUaf("mode_unacceptable");

  // Ensure that what was confirmed is what was to be (step 8).
  const confirmed = transaction === null ? Buffer.alloc(0) : transactionContentHash(transaction);
  if (!assertion.transactionContentHash.equals(confirmed)) return rejectUaf("transaction_mismatch");

  // Ensure the key has signed it (step 9).
  if (!signed) return rejectUaf("signature_not_verified");

  return {
    ok: true,
    // Step 10.
    assertion: { aaid, keyId, signCounter, authenticatorVersion: info.authenticatorVersion },
  };
}

const isSameKey = (one: KeyName, other: KeyName) => one.aaid === other.aaid && one.keyId === other.keyId;

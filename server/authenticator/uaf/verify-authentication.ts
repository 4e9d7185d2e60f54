import { rejectUaf, type UafRejection } from "../../failures/uaf.ts";
import { algorithms } from "./algorithms.ts";
import { authenticationAssertion, modes } from "./assertions.ts";
import { authenticationResponse, type UafResponse } from "./messages.ts";
import { isSameKey, type KeyName } from "./policy.ts";
import { importPublicKey } from "./public-keys.ts";
import { transactionContentHash } from "./transaction.ts";
import { readAssertion, verifyEach } from "./verify-assertions.ts";
import { type ExpectedResponse, verifyUafResponse } from "./verify-response.ts";
import { verifySignature } from "./verify-signature.ts";

/** A registered key with its current signature counter. */
export interface RegisteredKey extends KeyName {
  publicKey: Buffer;
  keyFormat: number;
  algorithm: number;
  signCounter: number;
}

export interface ExpectedAuthentication extends ExpectedResponse {
  /** The text that the user must confirm; null for none. */
  transaction: string | null;
  /** Keys of the user that the request named. */
  keys: readonly RegisteredKey[];
}

/** A verified assertion: the key and its new signature counter. */
export interface VerifiedAssertion extends KeyName {
  signCounter: number;
  authenticatorVersion: number;
}

/**
 * Verifies the response to an authentication request (UAF Protocol Specification 1.1, section 3.5.7.5, "Authentication
 * Response Processing Rules for FIDO Server"). It does not access the database: the caller consumes the challenge and
 * stores the counters. It never throws.
 *
 * @param uafResponse see `readMessage`
 * @returns the valid assertions, at least one; otherwise the rejection of the first assertion
 */
export function verifyUafAuthentication(
  uafResponse: string,
  expected: ExpectedAuthentication,
): { ok: true; assertions: VerifiedAssertion[] } | UafRejection {
  // Verify the message around the assertions (steps 1 to 3).
  const response = verifyUafResponse(uafResponse, "Auth", authenticationResponse, expected);
  if (!response.ok) return response;
  const each = verifyEach(response.message.assertions, (sent) =>
    verifyAuthenticationAssertion(sent, response.finalChallengeHash, expected),
  );
  return each.ok ? { ok: true, assertions: each.verified } : each;
}

function verifyAuthenticationAssertion(
  sent: UafResponse["assertions"][number],
  finalChallengeHash: Buffer,
  expected: ExpectedAuthentication,
): VerifiedAssertion | UafRejection {
  // Ensure it is an assertion of an accepted model (step 4).
  const read = readAssertion(sent, authenticationAssertion, expected);
  if (!read.ok) return read;
  const { metadata, key: name } = read;
  const { signed, signature } = read.assertion;
  const { info, signCounter } = signed.value;

  // Ensure the request named the key (step 5).
  const registered = expected.keys.find((key) => isSameKey(key, name));
  if (!registered) return rejectUaf("key_unknown");

  // Ensure the algorithm is accepted for the model, and fits the key.
  const algorithm = metadata.algorithms.includes(info.algorithm) ? algorithms.get(info.algorithm) : undefined;
  if (!algorithm || algorithm.key !== algorithms.get(registered.algorithm)?.key)
    return rejectUaf("algorithm_unacceptable");

  // Ensure the version of the authenticator is not below the minimum.
  if (info.authenticatorVersion < metadata.version) return rejectUaf("version_too_old");

  // Ensure it signs this final challenge (step 6).
  if (!signed.value.finalChallengeHash.equals(finalChallengeHash))
    return rejectUaf("final_challenge_hash_mismatch");

  const key = importPublicKey(registered.publicKey, registered.keyFormat, algorithm.key, "storage");
  if (!key) return rejectUaf("public_key_unacceptable");
  const isSigned = verifySignature(algorithm, key, signed.bytes, signature, expected.strict);

  // Ensure the signature counter has increased, unless the authenticator has none (step 7). Otherwise the key may have
  // been cloned, which only a valid signature indicates.
  const hasCounter = signCounter !== 0 || registered.signCounter !== 0;
  if (isSigned && hasCounter && signCounter <= registered.signCounter) return rejectUaf("sign_counter");

  // Ensure the user confirmed a transaction if and only if there was one (step 8).
  const { transaction } = expected;
  const mode = transaction === null ? modes.userVerified : modes.transactionConfirmed;
  if (info.mode !== mode) return rejectUaf("mode_unacceptable");

  // Ensure the confirmed transaction is that of the request (step 8).
  const confirmed = transaction === null ? Buffer.alloc(0) : transactionContentHash(transaction);
  if (!signed.value.transactionContentHash.equals(confirmed)) return rejectUaf("transaction_mismatch");

  // Ensure the signature is valid (step 9).
  if (!isSigned) return rejectUaf("signature_not_verified");

  // Step 10.
  return { ...name, signCounter, authenticatorVersion: info.authenticatorVersion };
}

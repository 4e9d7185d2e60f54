import { rejectUaf, type UafRejection } from "../../failures/uaf.ts";
import { algorithms } from "./algorithms.ts";
import { modes } from "./assertion-info.ts";
import { ASSERTION_SCHEME, decodeAssertion } from "./assertion-scheme.ts";
import { authenticationResponse } from "./messages.ts";
import type { AuthenticatorMetadata } from "./metadata.ts";
import { parseAuthenticationAssertion } from "./parse-authentication-assertion.ts";
import type { KeyName } from "./policy.ts";
import { importPublicKey } from "./public-keys.ts";
import { transactionContentHash } from "./transaction.ts";
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
  /** Accepted models. */
  accepted: readonly AuthenticatorMetadata[];
  /** Whether to reject known deviations of published clients: padding, signatures that are not valid DER. */
  strict: boolean;
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

  const assertions: VerifiedAssertion[] = [];
  const rejected: UafRejection[] = [];
  for (const sent of response.message.assertions) {
    const verified = verifyAuthenticationAssertion(sent, response.finalChallengeHash, expected);
    if (!verified.ok) rejected.push(verified);
    else if (!assertions.some((other) => isSameKey(other, verified.assertion)))
      assertions.push(verified.assertion);
  }

  // Ensure at least one assertion is valid.
  if (assertions.length === 0) return rejected[0] ?? rejectUaf("message_malformed");
  return { ok: true, assertions };
}

function verifyAuthenticationAssertion(
  sent: { assertionScheme: string; assertion: string },
  finalChallengeHash: Buffer,
  expected: ExpectedAuthentication,
): { ok: true; assertion: VerifiedAssertion } | UafRejection {
  // Ensure the assertion scheme is supported (step 4).
  if (sent.assertionScheme !== ASSERTION_SCHEME) return rejectUaf("scheme_unknown");

  // Ensure it has exactly the specified members, in their order (step 4).
  const assertion = decodeAssertion(sent.assertion, parseAuthenticationAssertion, expected.strict);
  if (!assertion) return rejectUaf("assertion_malformed");
  const { aaid, info, signCounter } = assertion;
  const keyId = assertion.keyId.toString("base64url");

  // Ensure the model is accepted and not revoked.
  const metadata = expected.accepted.find((model) => model.aaid === aaid);
  if (!metadata) return rejectUaf("aaid_unknown");
  if (metadata.revoked) return rejectUaf("authenticator_revoked");

  // Ensure the request named the key (step 5).
  const registered = expected.keys.find((key) => isSameKey(key, { aaid, keyId }));
  if (!registered) return rejectUaf("key_unknown");

  // Ensure the algorithm is accepted for the model, and fits the key.
  const algorithm = metadata.algorithms.includes(info.algorithm) ? algorithms.get(info.algorithm) : undefined;
  if (!algorithm || algorithm.key !== algorithms.get(registered.algorithm)?.key)
    return rejectUaf("algorithm_unacceptable");

  // Ensure the version of the authenticator is not below the minimum.
  if (info.authenticatorVersion < metadata.version) return rejectUaf("version_too_old");

  // Ensure it signs this final challenge (step 6).
  if (!assertion.finalChallengeHash.equals(finalChallengeHash))
    return rejectUaf("final_challenge_hash_mismatch");

  const key = importPublicKey(registered.publicKey, registered.keyFormat, algorithm.key, "storage");
  if (!key) return rejectUaf("public_key_unacceptable");
  const isSigned = verifySignature(algorithm, key, assertion.signed, assertion.signature, expected.strict);

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
  if (!assertion.transactionContentHash.equals(confirmed)) return rejectUaf("transaction_mismatch");

  // Ensure the signature is valid (step 9).
  if (!isSigned) return rejectUaf("signature_not_verified");

  return {
    ok: true,
    // Step 10.
    assertion: { aaid, keyId, signCounter, authenticatorVersion: info.authenticatorVersion },
  };
}

const isSameKey = (one: KeyName, other: KeyName) => one.aaid === other.aaid && one.keyId === other.keyId;

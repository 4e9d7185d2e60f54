import { rejectUaf, type UafRejection } from "../../failures/uaf.ts";
import { algorithms } from "./algorithms.ts";
import { modes, registrationAssertion } from "./assertions.ts";
import { type PngCharacteristics, type RegistrationResponse, registrationResponse } from "./messages.ts";
import { type Disallowed, isDisallowed, type KeyName } from "./policy.ts";
import { importPublicKey } from "./public-keys.ts";
import { readAssertion, verifyEach } from "./verify-assertions.ts";
import { verifyFullAttestation } from "./verify-attestation.ts";
import { type ExpectedResponse, verifyUafResponse } from "./verify-response.ts";
import { verifySignature } from "./verify-signature.ts";

export interface ExpectedRegistration extends ExpectedResponse {
  /** Authenticators that must not register, although their model is accepted. */
  disallowed?: readonly Disallowed[];
  now: Date;
}

/** A verified registration: the key and its properties. */
export interface VerifiedRegistration extends KeyName {
  publicKey: Buffer;
  keyFormat: number;
  /** The key's signature algorithm; for raw points, it also determines the curve. */
  algorithm: number;
  signCounter: number;
  /** Number of keys that the authenticator has registered so far. */
  regCounter: number;
  authenticatorVersion: number;
  attestation: "surrogate" | "full";
  tcDisplayPNGCharacteristics?: PngCharacteristics[];
}

/**
 * Verifies the response to a registration request (UAF Protocol Specification 1.1, section 3.4.6.5, "Registration
 * Response Processing Rules for FIDO Server"). It does not access the database: the caller consumes the challenge and
 * rejects keys that are already registered (step 9). It never throws.
 *
 * @param uafResponse see `readMessage`
 * @returns the keys with valid assertions, at least one; otherwise the rejection of the first assertion. A response
 *   with a disallowed authenticator is rejected whole
 */
export function verifyUafRegistrationResponse(
  uafResponse: string,
  expected: ExpectedRegistration,
): { ok: true; registrations: VerifiedRegistration[] } | UafRejection {
  // Verify the message around the assertions (steps 1 to 3).
  const response = verifyUafResponse(uafResponse, "Reg", registrationResponse, expected);
  if (!response.ok) return response;
  const each = verifyEach(response.message.assertions, (sent) =>
    verifyRegistrationAssertion(sent, response.finalChallengeHash, expected),
  );
  return each.ok ? { ok: true, registrations: each.verified } : each;
}

function verifyRegistrationAssertion(
  sent: RegistrationResponse["assertions"][number],
  finalChallengeHash: Buffer,
  expected: ExpectedRegistration,
): VerifiedRegistration | UafRejection {
  // Ensure it is an assertion of an accepted model (steps 4 and 5).
  const read = readAssertion(sent, registrationAssertion, expected);
  if (!read.ok) return read;
  const { metadata, key: name } = read;
  const { signed, attestation } = read.assertion;
  const { info, keyId, counters, publicKey } = signed.value;

  // Ensure the authenticator is not disallowed (step 5).
  if (isDisallowed(name, expected.disallowed)) return rejectUaf("authenticator_disallowed");

  // Ensure it signs this final challenge (step 6).
  if (!signed.value.finalChallengeHash.equals(finalChallengeHash))
    return rejectUaf("final_challenge_hash_mismatch");

  // Ensure the mode is that of a registration: the user was verified (step 7).
  if (info.mode !== modes.userVerified) return rejectUaf("mode_unacceptable");

  // Ensure the algorithm is accepted for the model (step 7).
  const algorithm = metadata.algorithms.includes(info.algorithm) ? algorithms.get(info.algorithm) : undefined;
  if (!algorithm) return rejectUaf("algorithm_unacceptable");

  // Ensure the key format is accepted for the model (step 7).
  if (!metadata.keyFormats.includes(info.keyFormat)) return rejectUaf("key_format_unacceptable");

  // Ensure the version of the authenticator is not below the minimum (step 7).
  if (info.authenticatorVersion < metadata.version) return rejectUaf("version_too_old");

  // Ensure the key id is long enough to be unique.
  const { strict } = expected;
  if (strict && keyId.length < 32) return rejectUaf("key_id_too_short");

  // Ensure the public key is valid for an algorithm of the model. With full attestation, the stated algorithm is that of
  // the certificate, and the key's own may differ.
  const candidates =
    attestation.type === "full" ? [info.algorithm, ...metadata.algorithms] : [info.algorithm];
  const own = keyAlgorithm(publicKey, info.keyFormat, candidates);
  if (!own) return rejectUaf("public_key_unacceptable");

  // Ensure the attestation type is accepted for the model (step 8).
  if (attestation.type === "ecdaa") return rejectUaf("attestation_type_unacceptable");
  if (attestation.type === "surrogate" && metadata.attestation !== "surrogate")
    return rejectUaf("attestation_type_unacceptable");

  // Ensure the attestation is valid (step 8). Without a certificate, the key has signed its own registration data.
  const by = { aaid: name.aaid, algorithm, roots: metadata.roots, now: expected.now, strict };
  const isAttested =
    attestation.type === "full"
      ? verifyFullAttestation(attestation.value, signed.bytes, by)
      : verifySignature(algorithm, own.key, signed.bytes, attestation.value.signature, strict);
  if (!isAttested) return rejectUaf("attestation_not_verified");

  // Step 10.
  const { tcDisplayPNGCharacteristics } = sent;
  return {
    ...name,
    ...counters,
    publicKey,
    keyFormat: info.keyFormat,
    algorithm: own.algorithm,
    authenticatorVersion: info.authenticatorVersion,
    attestation: attestation.type,
    ...(tcDisplayPNGCharacteristics && { tcDisplayPNGCharacteristics }),
  };
}

/** Finds the first candidate algorithm that the key is valid for, and imports the key. */
function keyAlgorithm(encoded: Buffer, format: number, candidates: readonly number[]) {
  for (const algorithm of candidates) {
    const kind = algorithms.get(algorithm)?.key;
    const key = kind && importPublicKey(encoded, format, kind);
    if (key) return { algorithm, key };
  }
  return null;
}

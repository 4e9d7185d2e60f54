import { rejectUaf, type UafRejection } from "../../failures/uaf.ts";
import { algorithms } from "./algorithms.ts";
import { modes } from "./assertion-info.ts";
import { ASSERTION_SCHEME, decodeAssertion } from "./assertion-scheme.ts";
import { type PngCharacteristics, type RegistrationResponse, registrationResponse } from "./messages.ts";
import type { AuthenticatorMetadata } from "./metadata.ts";
import { parseRegistrationAssertion } from "./parse-registration-assertion.ts";
import { type Disallowed, isDisallowed } from "./policy.ts";
import { importPublicKey } from "./public-keys.ts";
import { verifyFullAttestation, verifySurrogateAttestation } from "./verify-attestation.ts";
import { type ExpectedResponse, verifyUafResponse } from "./verify-response.ts";

export interface ExpectedRegistration extends ExpectedResponse {
  /** Accepted models. */
  accepted: readonly AuthenticatorMetadata[];
  /** Authenticators that must not register, although their model is accepted. */
  disallowed?: readonly Disallowed[];
  now: Date;
  /**
   * Whether to reject known deviations of published clients: key ids shorter than 32 bytes, padding, signatures that are
   * not valid DER.
   */
  strict: boolean;
}

/** A verified registration: the key and its properties. */
export interface VerifiedRegistration {
  aaid: string;
  /** base64url */
  keyId: string;
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

type SentAssertion = RegistrationResponse["assertions"][number];

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

  const registrations: VerifiedRegistration[] = [];
  const rejected: UafRejection[] = [];
  for (const sent of response.message.assertions) {
    const verified = verifyRegistrationAssertion(sent, response.finalChallengeHash, expected);
    if (!verified.ok) rejected.push(verified);
    else if (!registrations.some((other) => isSameKey(other, verified.registration)))
      registrations.push(verified.registration);
  }

  // Ensure no disallowed authenticator has answered.
  const disallowed = rejected.find(({ reason }) => reason === "authenticator_disallowed");
  if (disallowed) return disallowed;

  // Ensure at least one assertion is valid.
  if (registrations.length === 0) return rejected[0] ?? rejectUaf("message_malformed");
  return { ok: true, registrations };
}

function verifyRegistrationAssertion(
  sent: SentAssertion,
  finalChallengeHash: Buffer,
  expected: ExpectedRegistration,
): { ok: true; registration: VerifiedRegistration } | UafRejection {
  // Ensure the assertion scheme is supported (step 4).
  if (sent.assertionScheme !== ASSERTION_SCHEME) return rejectUaf("scheme_unknown");

  // Ensure it has exactly the specified members, in their order (step 4).
  const assertion = decodeAssertion(sent.assertion, parseRegistrationAssertion, expected.strict);
  if (!assertion) return rejectUaf("assertion_malformed");
  const { aaid, info, signed, attestation, publicKey } = assertion;
  const keyId = assertion.keyId.toString("base64url");

  // Ensure the model is accepted (step 5).
  const metadata = expected.accepted.find((model) => model.aaid === aaid);
  if (!metadata) return rejectUaf("aaid_unknown");

  // Ensure the model is not revoked (step 5).
  if (metadata.revoked) return rejectUaf("authenticator_revoked");

  // Ensure the authenticator is not disallowed (step 5).
  if (isDisallowed({ aaid, keyId }, expected.disallowed)) return rejectUaf("authenticator_disallowed");

  // Ensure it signs this final challenge (step 6).
  if (!assertion.finalChallengeHash.equals(finalChallengeHash))
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
  if (expected.strict && assertion.keyId.length < 32) return rejectUaf("key_id_too_short");

  // Ensure the public key is valid for an algorithm of the model. With full attestation, the stated algorithm is that of
  // the certificate, and the key's own may differ.
  const candidates =
    attestation.type === "full" ? [info.algorithm, ...metadata.algorithms] : [info.algorithm];
  const keyWithAlgorithm = keyAlgorithm(publicKey, info.keyFormat, candidates);
  if (!keyWithAlgorithm) return rejectUaf("public_key_unacceptable");

  // Ensure the attestation type is accepted for the model (step 8).
  if (attestation.type === "ecdaa") return rejectUaf("attestation_type_unacceptable");
  if (attestation.type === "surrogate" && metadata.attestation !== "surrogate")
    return rejectUaf("attestation_type_unacceptable");

  // Ensure the attestation is valid (step 8).
  const { roots } = metadata;
  const { now, strict } = expected;
  const isAttested =
    attestation.type === "full"
      ? verifyFullAttestation(attestation, signed, { aaid, algorithm, roots, now, strict })
      : verifySurrogateAttestation(attestation, signed, { algorithm, key: keyWithAlgorithm.key, strict });
  if (!isAttested) return rejectUaf("attestation_not_verified");

  // Step 10.
  const { tcDisplayPNGCharacteristics } = sent;
  return {
    ok: true,
    registration: {
      aaid,
      keyId,
      publicKey,
      keyFormat: info.keyFormat,
      algorithm: keyWithAlgorithm.algorithm,
      signCounter: assertion.signCounter,
      regCounter: assertion.regCounter,
      authenticatorVersion: info.authenticatorVersion,
      attestation: attestation.type,
      ...(tcDisplayPNGCharacteristics && { tcDisplayPNGCharacteristics }),
    },
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

const isSameKey = (one: VerifiedRegistration, other: VerifiedRegistration) =>
  one.aaid === other.aaid && one.keyId === other.keyId;

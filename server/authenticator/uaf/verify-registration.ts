import { algorithms } from "./algorithms.ts";
import { modes } from "./assertion-info.ts";
import { assertionScheme, readAssertion } from "./assertion-scheme.ts";
import { type PngCharacteristics, type RegistrationResponse, registrationResponse } from "./messages.ts";
import type { AuthenticatorMetadata } from "./metadata.ts";
import { type Disallowed, isDisallowed } from "./policy.ts";
import { importPublicKey } from "./public-keys.ts";
import { registrationAssertionOf } from "./registration-assertion.ts";
import { rejectUaf, type UafRefusal } from "./rejections.ts";
import { holdsByCertificate, holdsBySurrogate } from "./verify-attestation.ts";
import { type ExpectedResponse, judgeResponse } from "./verify-response.ts";

export interface ExpectedRegistration extends ExpectedResponse {
  /** Models that may register. */
  accepted: readonly AuthenticatorMetadata[];
  /** Those that may not, although their model may. */
  disallowed?: readonly Disallowed[];
  now: Date;
  /** Whether what published clients do wrong is refused: key ids shorter than 32 bytes, padding, numbers that are no DER. */
  strict: boolean;
}

/** A key that may be kept. */
export interface UafRegistration {
  aaid: string;
  /** base64url */
  keyId: string;
  publicKey: Buffer;
  keyFormat: number;
  /** What the key signs by; for a point without a name this is what says which curve it is of. */
  algorithm: number;
  signCounter: number;
  /** Keys that the authenticator has made so far. */
  regCounter: number;
  authenticatorVersion: number;
  attestation: "surrogate" | "full";
  tcDisplayPNGCharacteristics?: PngCharacteristics[];
}

type SentAssertion = RegistrationResponse["assertions"][number];

/**
 * Judges the answer to a registration request, UAF Protocol Specification 1.1, section 3.4.6.5. Knows no database:
 * whether the challenge was open, and whether the key is registered already (step 9), is for the caller to find out.
 * Throws nothing, whatever the answer is.
 *
 * @param uafResponse a message: in an array, alone, or wrapped as client interfaces do
 * @returns the keys whose assertions hold, one at least; where none does, what is wrong with the first
 */
export function judgeRegistration(
  uafResponse: string,
  expected: ExpectedRegistration,
): { ok: true; registrations: UafRegistration[] } | UafRefusal {
  // Ensure the message is what it must be, whatever it asserts (steps 1 to 3).
  const response = judgeResponse(uafResponse, "Reg", registrationResponse, expected);
  if (!response.ok) return response;

  const registrations: UafRegistration[] = [];
  const refusals: UafRefusal[] = [];
  for (const sent of response.message.assertions) {
    const judged = verifyUafRegistration(sent, response.finalChallengeHash, expected);
    if (!judged.ok) refusals.push(judged);
    else if (!registrations.some((other) => isSameKey(other, judged.registration)))
      registrations.push(judged.registration);
  }

  // Ensure that one of them holds at least.
  if (registrations.length === 0) return refusals[0] ?? rejectUaf("message_malformed");
  return { ok: true, registrations };
}

function verifyUafRegistration(
  sent: SentAssertion,
  finalChallengeHash: Buffer,
  expected: ExpectedRegistration,
): { ok: true; registration: UafRegistration } | UafRefusal {
  // Ensure it is of the scheme that is known (step 4).
  if (sent.assertionScheme !== assertionScheme) return rejectUaf("scheme_unknown");

  // Ensure it has every member, once and in order, and nothing else (step 4).
  const assertion = readAssertion(sent.assertion, registrationAssertionOf, expected.strict);
  if (!assertion) return rejectUaf("assertion_malformed");
  const { aaid, info, signed, attestation, publicKey } = assertion;
  const keyId = assertion.keyId.toString("base64url");

  // Ensure the model is known (step 5).
  const metadata = expected.accepted.find((model) => model.aaid === aaid);
  if (!metadata) return rejectUaf("aaid_unknown");

  // Ensure it was not revoked (step 5).
  if (metadata.revoked) return rejectUaf("authenticator_revoked");

  // Ensure it is not one of those that may not register (step 5).
  if (isDisallowed({ aaid, keyId }, expected.disallowed)) return rejectUaf("authenticator_disallowed");

  // Ensure it was made for this final challenge (step 6).
  if (!assertion.finalChallengeHash.equals(finalChallengeHash))
    return rejectUaf("final_challenge_hash_mismatch");

  // Ensure the user was verified, and nothing else was confirmed (step 7).
  if (info.mode !== modes.userVerified) return rejectUaf("mode_unacceptable");

  // Ensure the algorithm is one of the model's (step 7).
  const algorithm = metadata.algorithms.includes(info.algorithm) ? algorithms.get(info.algorithm) : undefined;
  if (!algorithm) return rejectUaf("algorithm_unacceptable");

  // Ensure the key's format is one of the model's (step 7).
  if (!metadata.keyFormats.includes(info.keyFormat)) return rejectUaf("key_format_unacceptable");

  // Ensure the authenticator is not older than is accepted (step 7).
  if (info.authenticatorVersion < metadata.version) return rejectUaf("version_too_old");

  // Ensure the key has a name that no other will have by chance.
  if (expected.strict && assertion.keyId.length < 32) return rejectUaf("key_id_too_short");

  // Ensure the key is one, and of an algorithm of the model's. Where a certificate vouches for it, the algorithm that
  // is stated is the certificate's; the key's own may be another.
  const candidates =
    attestation.type === "full" ? [info.algorithm, ...metadata.algorithms] : [info.algorithm];
  const own = keyAlgorithm(publicKey, info.keyFormat, candidates);
  if (!own) return rejectUaf("public_key_unacceptable");

  // Ensure the kind of attestation is one that is accepted of the model (step 8).
  if (attestation.type === "ecdaa") return rejectUaf("attestation_type_unacceptable");
  if (attestation.type === "surrogate" && metadata.attestation !== "surrogate")
    return rejectUaf("attestation_type_unacceptable");

  // Ensure whoever vouches for the key does (step 8).
  const { roots } = metadata;
  const { now, strict } = expected;
  const vouched =
    attestation.type === "full"
      ? holdsByCertificate(attestation, signed, { algorithm, roots, now, strict })
      : holdsBySurrogate(attestation, signed, { algorithm, key: own.key, strict });
  if (!vouched) return rejectUaf("attestation_not_verified");

  // Step 10.
  const { tcDisplayPNGCharacteristics } = sent;
  return {
    ok: true,
    registration: {
      aaid,
      keyId,
      publicKey,
      keyFormat: info.keyFormat,
      algorithm: own.algorithm,
      signCounter: assertion.signCounter,
      regCounter: assertion.regCounter,
      authenticatorVersion: info.authenticatorVersion,
      attestation: attestation.type,
      ...(tcDisplayPNGCharacteristics && { tcDisplayPNGCharacteristics }),
    },
  };
}

/** The first of some algorithms that a key is a key of. */
function keyAlgorithm(encoded: Buffer, format: number, candidates: readonly number[]) {
  for (const algorithm of candidates) {
    const kind = algorithms.get(algorithm)?.key;
    const key = kind && importPublicKey(encoded, format, kind);
    if (key) return { algorithm, key };
  }
  return null;
}

const isSameKey = (one: UafRegistration, other: UafRegistration) =>
  one.aaid === other.aaid && one.keyId === other.keyId;

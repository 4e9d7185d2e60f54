import { verifyRegistrationResponse } from "@simplewebauthn/server";
import { decodeAttestationObject } from "@simplewebauthn/server/helpers";
import { cborItemLength } from "./cbor-item.ts";
import { isAcceptableKey, offeredAlgorithms } from "./cose-key.ts";
import type { ClientData, RegistrationAnswer } from "./webauthn-answer.ts";
import type { NewCredential } from "./webauthn-credentials.ts";

export interface ExpectedRegistration {
  /** base64url; taken before. */
  challenge: string;
  origins: readonly string[];
  rpId: string;
  requireUserVerification: boolean;
}

export type AttestationFault =
  | "cross_origin"
  | "attestation_object_malformed"
  | "attestation_format_refused"
  | "not_verified"
  | "credential_id_mismatch"
  | "credential_id_too_long"
  | "public_key_refused";

/**
 * Formats of attestation statements that are verified. `apple`, `android-key` and `android-safetynet` are not: the
 * library would follow the addresses of revocation lists in certificates that the client itself sent, and a server
 * that fetches what strangers name is a hole. Passkeys of those platforms come with `none`.
 */
const formats: ReadonlySet<unknown> = new Set(["none", "packed", "fido-u2f", "tpm"]);

/**
 * Judges the answer to a registration ceremony, WebAuthn Level 3 section 7.1 from step 7 on. Knows no database: whether
 * the challenge was open (step 8) and whether the credential id is free (step 26) is for the caller to find out.
 */
export async function judgeAttestation(
  answer: RegistrationAnswer,
  clientData: ClientData,
  expected: ExpectedRegistration,
): Promise<{ ok: true; credential: NewCredential } | { ok: false; reason: AttestationFault }> {
  // Ensure the page was not framed by another site (steps 10 and 11): nobody may embed it.
  if (clientData.crossOrigin === true || clientData.topOrigin !== undefined) return refuse("cross_origin");

  // Ensure the attestation object is one CBOR item and nothing after it (step 13).
  const attestationObject = Buffer.from(answer.response.attestationObject, "base64url");
  const format = formatOf(attestationObject);
  if (format === null) return refuse("attestation_object_malformed");

  // Ensure the statement is of a format that can be verified without asking anybody (step 21).
  if (!formats.has(format)) return refuse("attestation_format_refused");

  // Ensure type, challenge, origin, relying party, presence, verification, backup flags, algorithm and statement are
  // what they must be (steps 7 to 9, 12, 14 to 17, 20 and 22).
  const verified = await verify(answer, expected);
  if (!verified) return refuse("not_verified");
  const { credential, fmt, aaguid, userVerified, credentialDeviceType, credentialBackedUp } = verified;

  // Ensure the credential is the one that the answer names: what is stored is found again by that name.
  if (credential.id !== answer.id) return refuse("credential_id_mismatch");

  // Ensure the id is no longer than 1023 bytes (step 25).
  if (Buffer.byteLength(credential.id, "base64url") > 1023) return refuse("credential_id_too_long");

  // Ensure the key is a point of its curve and carries its own parameters only (section 6.5.1.1).
  if (!isAcceptableKey(credential.publicKey)) return refuse("public_key_refused");

  return {
    ok: true,
    // Step 27.
    credential: {
      id: credential.id,
      publicKey: Buffer.from(credential.publicKey).toString("base64url"),
      signCount: credential.counter,
      aaguid,
      attestationType: fmt,
      transports: transportsOf(answer),
      backupEligible: credentialDeviceType === "multiDevice",
      backupState: credentialBackedUp,
      userVerified,
      mfaOnly: false,
      name: null,
    },
  };
}

const refuse = (reason: AttestationFault) => ({ ok: false as const, reason });

/** The format of the attestation statement; null when the bytes are not exactly one attestation object. */
function formatOf(attestationObject: Buffer): unknown {
  try {
    if (cborItemLength(attestationObject) !== attestationObject.length) return null;
    const decoded: unknown = decodeAttestationObject(new Uint8Array(attestationObject));
    return decoded instanceof Map ? (decoded.get("fmt") ?? null) : null;
  } catch {
    return null;
  }
}

/** The library throws for whatever is wrong; nothing of what it says is for the client. */
async function verify(answer: RegistrationAnswer, expected: ExpectedRegistration) {
  const { clientDataJSON, attestationObject } = answer.response;
  try {
    const { registrationInfo } = await verifyRegistrationResponse({
      response: {
        id: answer.id,
        rawId: answer.rawId,
        type: answer.type,
        clientExtensionResults: {},
        response: { clientDataJSON, attestationObject },
      },
      expectedChallenge: expected.challenge,
      expectedOrigin: [...expected.origins],
      expectedRPID: expected.rpId,
      requireUserVerification: expected.requireUserVerification,
      supportedAlgorithmIDs: [...offeredAlgorithms],
    });
    return registrationInfo ?? null;
  } catch {
    return null;
  }
}

/** Transports are hints that browsers are handed back; what does not look like one is left out. */
function transportsOf({ response }: RegistrationAnswer): string[] {
  const named = (response.transports ?? []).filter((transport) => /^[a-z][a-z0-9-]{0,31}$/.test(transport));
  return [...new Set(named)];
}

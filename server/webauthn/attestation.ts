import { verifyRegistrationResponse } from "@simplewebauthn/server";
import { decodeAttestationObject, isoCBOR } from "@simplewebauthn/server/helpers";
import { sha256 } from "../lib/sha256.ts";
import { cborItemLength } from "./cbor.ts";
import { isAcceptableKey, offeredAlgorithms } from "./cose-key.ts";
import type { NewCredential } from "./credential-record.ts";
import { knownRoots, type StatementFormat, type StatementRoots, statementFormats } from "./formats/index.ts";
import type { Statement } from "./formats/statement.ts";
import type { ClientData, RegistrationResponse } from "./responses.ts";

export interface ExpectedRegistration {
  /** base64url; taken before. */
  challenge: string;
  origins: readonly string[];
  rpId: string;
  /** False for a ceremony that the browser held by itself. */
  requireUserPresence: boolean;
  requireUserVerification: boolean;
  /** Formats of attestation statements that are taken. */
  formats: readonly StatementFormat[];
  now: Date;
}

export type AttestationRejection =
  | "cross_origin"
  | "attestation_object_malformed"
  | "attestation_format_refused"
  | "not_verified"
  | "credential_id_mismatch"
  | "credential_id_too_long"
  | "public_key_refused"
  | "attestation_statement_refused";

/**
 * Judges the answer to a registration ceremony, WebAuthn Level 3 section 7.1 from step 7 on. Knows no database: whether
 * the challenge was open (step 8) and whether the credential id is free (step 26) is for the caller to find out. Asks
 * nobody: see `docs/decisions/0012-attestation-formats.md`.
 *
 * @param roots what the chains of `apple` and `android-key` have to lead to
 */
export async function verifyWebAuthnAttestation(
  answer: RegistrationResponse,
  clientData: ClientData,
  expected: ExpectedRegistration,
  roots: StatementRoots = knownRoots,
): Promise<{ ok: true; credential: NewCredential } | { ok: false; reason: AttestationRejection }> {
  // Ensure the page was not framed by another site (steps 10 and 11): nobody may embed it.
  if (clientData.crossOrigin === true || clientData.topOrigin !== undefined) return refuse("cross_origin");

  // Ensure the attestation object is one CBOR item and nothing after it (step 13).
  const object = readObject(answer.response.attestationObject);
  if (!object) return refuse("attestation_object_malformed");

  // Ensure the statement is of a format that is taken (step 21).
  const format = expected.formats.find((taken) => taken === object.format);
  if (!format) return refuse("attestation_format_refused");
  const rules = statementFormats[format];

  // Ensure type, challenge, origin, relying party, presence, verification, backup flags and algorithm are what they
  // must be (steps 7 to 9, 12, 14 to 17 and 20), and the statement as far as the library may see it (step 22).
  const shown = rules.byLibrary ? answer.response.attestationObject : withoutStatement(object);
  const verified = await verify(answer, shown, expected);
  if (!verified) return refuse("not_verified");
  const { credential, aaguid, userVerified, credentialDeviceType, credentialBackedUp } = verified;

  // Ensure the credential is the one that the answer names: what is stored is found again by that name.
  if (credential.id !== answer.id) return refuse("credential_id_mismatch");

  // Ensure the id is no longer than 1023 bytes (step 25).
  if (Buffer.byteLength(credential.id, "base64url") > 1023) return refuse("credential_id_too_long");

  // Ensure the key is a point of its curve and carries its own parameters only (section 6.5.1.1).
  if (!isAcceptableKey(credential.publicKey)) return refuse("public_key_refused");

  // Ensure the statement holds in everything else (steps 22 to 24).
  const stated = await holds(rules.verify, {
    members: object.statement,
    authenticatorData: object.authenticatorData,
    clientDataHash: sha256(Buffer.from(answer.response.clientDataJSON, "base64url")),
    publicKey: credential.publicKey,
    roots: roots[format] ?? [],
    now: expected.now,
  });
  if (!stated) return refuse("attestation_statement_refused");

  return {
    ok: true,
    // Step 27.
    credential: {
      id: credential.id,
      publicKey: Buffer.from(credential.publicKey).toString("base64url"),
      signCount: credential.counter,
      aaguid,
      attestationType: format,
      transports: transportsOf(answer),
      backupEligible: credentialDeviceType === "multiDevice",
      backupState: credentialBackedUp,
      userVerified,
      mfaOnly: false,
      name: null,
    },
  };
}

const refuse = (reason: AttestationRejection) => ({ ok: false as const, reason });

interface AttestationObject {
  format: unknown;
  statement: Map<unknown, unknown>;
  authenticatorData: Uint8Array<ArrayBuffer>;
}

/** @returns null when the bytes are not exactly one attestation object (section 6.5.4) */
function readObject(encoded: string): AttestationObject | null {
  const bytes = Buffer.from(encoded, "base64url");
  try {
    if (cborItemLength(bytes) !== bytes.length) return null;
    const decoded: unknown = decodeAttestationObject(new Uint8Array(bytes));
    if (!(decoded instanceof Map)) return null;
    const [format, statement, authData] = ["fmt", "attStmt", "authData"].map((name) => decoded.get(name));
    if (!(statement instanceof Map) || !(authData instanceof Uint8Array)) return null;
    return { format, statement, authenticatorData: new Uint8Array(authData) };
  } catch {
    return null;
  }
}

/** The same attestation object, attesting nothing: for what has to be verified beside the statement. */
function withoutStatement({ authenticatorData }: AttestationObject): string {
  const object = new Map<string, Parameters<typeof isoCBOR.encode>[0]>([
    ["fmt", "none"],
    ["attStmt", new Map()],
    ["authData", authenticatorData],
  ]);
  return Buffer.from(isoCBOR.encode(object)).toString("base64url");
}

/** The library throws for whatever is wrong; nothing of what it says is for the client. */
async function verify(
  answer: RegistrationResponse,
  attestationObject: string,
  expected: ExpectedRegistration,
) {
  try {
    const { registrationInfo } = await verifyRegistrationResponse({
      response: {
        id: answer.id,
        rawId: answer.rawId,
        type: answer.type,
        clientExtensionResults: {},
        response: { clientDataJSON: answer.response.clientDataJSON, attestationObject },
      },
      expectedChallenge: expected.challenge,
      expectedOrigin: [...expected.origins],
      expectedRPID: expected.rpId,
      requireUserPresence: expected.requireUserPresence,
      requireUserVerification: expected.requireUserVerification,
      supportedAlgorithmIDs: [...offeredAlgorithms],
    });
    return registrationInfo ?? null;
  } catch {
    return null;
  }
}

/** A malformed statement does not hold; what is wrong with it is for nobody. */
async function holds(rule: (statement: Statement) => boolean | Promise<boolean>, statement: Statement) {
  try {
    return await rule(statement);
  } catch {
    return false;
  }
}

/** Transports are hints that browsers are handed back; what does not look like one is left out. */
function transportsOf({ response }: RegistrationResponse): string[] {
  const named = (response.transports ?? []).filter((transport) => /^[a-z][a-z0-9-]{0,31}$/.test(transport));
  return [...new Set(named)];
}

import { verifyRegistrationResponse } from "@simplewebauthn/server";
import { decodeAttestationObject, isoCBOR } from "@simplewebauthn/server/helpers";
import { sha256 } from "../lib/sha256.ts";
import { offeredAlgorithms } from "./algorithms.ts";
import { type AttestationTrust, attestationTrust, type TrustedModels } from "./attestation-trust.ts";
import { readAuthenticatorData } from "./authenticator-data.ts";
import { cborItemLength } from "./cbor.ts";
import { importCredentialKey } from "./cose-key.ts";
import type { NewCredential } from "./credential-record.ts";
import { knownRoots, type StatementFormat, type StatementRoots, statementFormats } from "./formats/index.ts";
import type { Statement, StatementVerifier } from "./formats/statement.ts";
import { type Framing, isAcceptedFraming, noFraming } from "./framing.ts";
import type { ClientData, RegistrationResponse } from "./responses.ts";

export interface ExpectedRegistration {
  /** base64url; the caller has consumed it. */
  challenge: string;
  origins: readonly string[];
  rpId: string;
  /** False for conditional creation. */
  requireUserPresence: boolean;
  requireUserVerification: boolean;
  /** Accepted frames; default: none. */
  framing?: Framing;
  /** Accepted formats of attestation statements. */
  formats: readonly StatementFormat[];
  /** Models whose roots are known, in order of precedence. */
  trustedModels?: readonly TrustedModels[];
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
 * Verifies the response of a registration ceremony, WebAuthn Level 3 section 7.1 from step 7 on. Does not read the
 * database: the caller has consumed the challenge (step 8) and checks that the credential id is unused (step 26). Does
 * not use the network: see `docs/decisions/0012-attestation-formats.md`.
 *
 * @param roots trust anchors for the certificate chains of `apple` and `android-key`
 */
export async function verifyWebAuthnAttestation(
  answer: RegistrationResponse,
  clientData: ClientData,
  expected: ExpectedRegistration,
  roots: StatementRoots = knownRoots,
): Promise<
  | { ok: true; credential: NewCredential; attestationTrust: AttestationTrust }
  | { ok: false; reason: AttestationRejection }
> {
  // Ensure the page was embedded by no other site than an accepted one (steps 10 and 11).
  if (!isAcceptedFraming(clientData, expected.framing ?? noFraming)) return reject("cross_origin");

  // Ensure the attestation object is exactly one CBOR item (step 13).
  const object = readObject(answer.response.attestationObject);
  if (!object) return reject("attestation_object_malformed");

  // Ensure the format of the statement is accepted (step 21).
  const format = expected.formats.find((taken) => taken === object.format);
  if (!format) return reject("attestation_format_refused");
  const rules = statementFormats[format];

  // Ensure type, challenge, origin, relying party, presence, verification, backup flags and algorithm are valid
  // (steps 7 to 9, 12, 14 to 17 and 20), and the statement as far as the library may verify it (step 22).
  const shown = rules.byLibrary ? answer.response.attestationObject : withoutStatement(object);
  const verified = await verify(answer, shown, expected);
  if (!verified) return reject("not_verified");
  const { credential, aaguid, userVerified, credentialDeviceType, credentialBackedUp } = verified;

  // Ensure the credential id is the one in the response, because the credential is looked up by it.
  if (credential.id !== answer.id) return reject("credential_id_mismatch");

  // Ensure the id is no longer than 1023 bytes (step 25).
  if (Buffer.byteLength(credential.id, "base64url") > 1023) return reject("credential_id_too_long");

  // Ensure the key has one reading, is a point of its curve, and has no other parameters (section 6.5.1.1). The library
  // returns another encoding than the one that was sent.
  const publicKey = readAuthenticatorData(Buffer.from(object.authenticatorData))?.publicKey;
  const key = publicKey && importCredentialKey(publicKey);
  if (!key) return reject("public_key_refused");

  // Ensure the rest of the statement is valid (steps 22 to 24).
  const stated = holds(rules.verify, {
    members: object.statement,
    authenticatorData: object.authenticatorData,
    clientDataHash: sha256(Buffer.from(answer.response.clientDataJSON, "base64url")),
    key,
    roots: roots[format] ?? [],
    now: expected.now,
  });
  if (!stated) return reject("attestation_statement_refused");

  const stating = { format, x5c: object.statement.get("x5c"), aaguid };
  const { trust, inHardware } = attestationTrust(stating, expected.trustedModels ?? [], expected.now);
  const backupEligible = credentialDeviceType === "multiDevice";
  return {
    ok: true,
    attestationTrust: trust,
    // Step 27.
    credential: {
      id: credential.id,
      publicKey: publicKey.toString("base64url"),
      signCount: credential.counter,
      aaguid,
      attestationType: format,
      transports: transportsOf(answer),
      backupEligible,
      backupState: credentialBackedUp,
      userVerified,
      mfaOnly: false,
      hardwareProtected: inHardware && !backupEligible,
      name: null,
    },
  };
}

const reject = (reason: AttestationRejection) => ({ ok: false as const, reason });

interface AttestationObject {
  format: unknown;
  statement: Map<unknown, unknown>;
  authenticatorData: Uint8Array<ArrayBuffer>;
}

/** @returns null if the bytes are not exactly one attestation object (section 6.5.4) */
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

/** The same attestation object with the format `none`, to verify everything but the statement. */
function withoutStatement({ authenticatorData }: AttestationObject): string {
  const object = new Map<string, Parameters<typeof isoCBOR.encode>[0]>([
    ["fmt", "none"],
    ["attStmt", new Map()],
    ["authData", authenticatorData],
  ]);
  return Buffer.from(isoCBOR.encode(object)).toString("base64url");
}

/** The library throws for every error; its messages are not for the client. */
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

/** Whether a statement is valid; a malformed one is not. */
function holds(rule: StatementVerifier, statement: Statement): boolean {
  try {
    return rule(statement);
  } catch {
    return false;
  }
}

/** Transports are hints that are passed back to browsers; malformed ones are dropped. */
function transportsOf({ response }: RegistrationResponse): string[] {
  const named = (response.transports ?? []).filter((transport) => /^[a-z][a-z0-9-]{0,31}$/.test(transport));
  return [...new Set(named)];
}

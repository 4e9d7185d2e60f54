import { createHash, sign } from "node:crypto";
import {
  type Certificate,
  type CertificateDetails,
  type Extension,
  makeCertificate,
  nameOf,
} from "../lib/certificates.ts";
import { enumerated, integer, objectId, octetString, sequence, setOf, tagged } from "../lib/der-encoding.ts";
import type { Cbor } from "./cbor.ts";
import type { CoseKey } from "./cose-key.ts";
import { tpmAttest, tpmPublic } from "./tpm.ts";

/** The attested registration data. */
export interface Attested {
  authData: Buffer;
  clientDataHash: Buffer;
  rpId: string;
  aaguid: Uint8Array;
  credentialId: Buffer;
  key: CoseKey;
}

/** An attestation statement, by its format (Web Authentication Level 3, section 8). */
export interface AttestationStatement {
  fmt: string;
  members: Map<string, Cbor>;
}

export type Attestation = (attested: Attested) => AttestationStatement;

interface Common {
  /** The issuing certificate. */
  authority: Certificate;
  /** Overrides of the certificate. */
  certificate?: Partial<CertificateDetails>;
  /** Further certificates of the chain, in order; the last one is self-signed. */
  above?: readonly Certificate[];
  /** Overrides of the members; undefined omits one. */
  members?: Record<string, Cbor | undefined>;
}

/** Section 8.2, with a certificate. `aaguidExtension`: AAGUID in the certificate extension; null omits it. */
export function packedAttestation(options: Common & { aaguidExtension?: Uint8Array | null }): Attestation {
  return ({ authData, clientDataHash, aaguid }) => {
    const named = options.aaguidExtension === undefined ? aaguid : options.aaguidExtension;
    const model = named ? [{ id: "1.3.6.1.4.1.45724.1.1.4", value: octetString(named) }] : [];
    const subject = { C: "AA", O: "Example", OU: "Authenticator Attestation", CN: "Example Key" };
    const certificate = certify(options, { subject, extensions: model });
    return stated("packed", options, {
      alg: -7,
      sig: signBy(certificate, authData, clientDataHash),
      x5c: chainOf(certificate, options),
    });
  };
}

/** Section 8.6. */
export function u2fAttestation(options: Common): Attestation {
  return ({ clientDataHash, rpId, credentialId, key }) => {
    const certificate = certify(options, { subject: { CN: "Example U2F" } });
    const { x, y } = pointOf(key);
    const point = Buffer.concat([Buffer.of(4), x, y]);
    return stated("fido-u2f", options, {
      sig: signBy(certificate, Buffer.of(0), sha256(rpId), clientDataHash, credentialId, point),
      x5c: chainOf(certificate, options),
    });
  };
}

/** Section 8.3, for P-256 keys. Options override valid values. */
export function tpmAttestation(
  options: Common & { extraData?: Buffer; pubArea?: Buffer; magic?: number; manufacturer?: string },
): Attestation {
  return ({ authData, clientDataHash, key }) => {
    const directory = nameOf([
      ["2.23.133.2.1", options.manufacturer ?? "id:494E5443"],
      ["2.23.133.2.2", "Example TPM"],
      ["2.23.133.2.3", "id:0001"],
    ]);
    const certificate = certify(options, {
      subject: {},
      extensions: [
        { id: "2.5.29.17", critical: true, value: sequence(tagged(4, directory)) },
        { id: "2.5.29.37", value: sequence(objectId("2.23.133.8.3")) },
      ],
    });
    const pubArea = options.pubArea ?? tpmPublic(pointOf(key));
    const certInfo = tpmAttest({
      magic: options.magic ?? 0xff54_4347,
      extraData: options.extraData ?? sha256(Buffer.concat([authData, clientDataHash])),
      pubArea,
    });
    return stated("tpm", options, {
      ver: "2.0",
      alg: -7,
      x5c: chainOf(certificate, options),
      sig: signBy(certificate, certInfo),
      certInfo,
      pubArea,
    });
  };
}

/** Section 8.8. */
export function appleAttestation(
  options: Common & { nonce?: Buffer; extensions?: Extension[] },
): Attestation {
  return ({ authData, clientDataHash, key }) => {
    const nonce = options.nonce ?? sha256(Buffer.concat([authData, clientDataHash]));
    const certificate = certify(options, {
      subject: { CN: "credential" },
      publicKey: key.publicKey,
      extensions: options.extensions ?? [appleNonce(nonce)],
    });
    return stated("apple", options, { x5c: chainOf(certificate, options) });
  };
}

export const appleNonce = (nonce: Buffer): Extension => ({
  id: "1.2.840.113635.100.8.2",
  value: sequence(tagged(1, octetString(nonce))),
});

/** Section 8.4. Defaults are those of Android. */
export interface KeyDescription {
  challenge?: Buffer;
  purposes?: number[];
  origin?: number;
  allApplications?: boolean;
  /** The list that holds purpose and origin. */
  enforcedBy?: "hardware" | "software";
}

/** Section 8.4. */
export function androidKeyAttestation(
  options: Common & { description?: KeyDescription; extensions?: Extension[] },
): Attestation {
  return ({ authData, clientDataHash, key }) => {
    const description = { challenge: clientDataHash, ...options.description };
    const certificate = certify(options, {
      subject: { CN: "Android Keystore Key" },
      publicKey: key.publicKey,
      extensions: options.extensions ?? [keyDescription(description)],
    });
    return stated("android-key", options, {
      alg: key.algorithm,
      sig: sign("sha256", Buffer.concat([authData, clientDataHash]), key.privateKey),
      x5c: chainOf(certificate, options),
    });
  };
}

export function keyDescription(description: KeyDescription): Extension {
  const { challenge = Buffer.alloc(32), purposes = [2], origin = 0, enforcedBy = "hardware" } = description;
  const authorizations = [
    tagged(1, setOf(...purposes.map((purpose) => integer(purpose)))),
    ...(description.allApplications ? [tagged(600, Buffer.of(5, 0))] : []),
    tagged(702, integer(origin)),
  ];
  const value = sequence(
    integer(200),
    enumerated(1),
    integer(200),
    enumerated(1),
    octetString(challenge),
    octetString(Buffer.alloc(0)),
    sequence(...(enforcedBy === "software" ? authorizations : [])),
    sequence(...(enforcedBy === "hardware" ? authorizations : [])),
  );
  return { id: "1.3.6.1.4.1.11129.2.1.17", value };
}

function certify({ authority, certificate }: Common, details: CertificateDetails): Certificate {
  return makeCertificate({ issuer: authority, ...details, ...certificate });
}

const chainOf = (certificate: Certificate, { above = [] }: Common): Cbor =>
  [certificate, ...above].map(({ der }) => der);

function signBy({ privateKey }: Certificate, ...parts: Uint8Array[]): Buffer {
  if (!privateKey) throw new Error("the key of this certificate is missing");
  return sign("sha256", Buffer.concat(parts), privateKey);
}

function stated(fmt: string, { members }: Common, defaults: Record<string, Cbor>): AttestationStatement {
  const entries = Object.entries({ ...defaults, ...members });
  return {
    fmt,
    members: new Map(entries.filter((entry): entry is [string, Cbor] => entry[1] !== undefined)),
  };
}

function pointOf({ publicKey }: CoseKey): { x: Buffer; y: Buffer } {
  const { x = "", y = "" } = publicKey.export({ format: "jwk" });
  return { x: Buffer.from(x, "base64url"), y: Buffer.from(y, "base64url") };
}

const sha256 = (data: Uint8Array | string) => createHash("sha256").update(data).digest();

import { createHash, createPublicKey, type KeyObject } from "node:crypto";
import { type Certificate, type CertificateDetails, makeCertificate } from "../../lib/certificates.ts";
import {
  exportUafKey,
  makeUafKey,
  negativeRSignature,
  spkiOf,
  type UafAlgorithm,
  type UafKeyFormat,
  uafSignature,
} from "./keys.ts";
import { edited, encodeTlv, type Item, item, type TlvEdit, u16, u32 } from "./tlv.ts";

/** Encodes assertions of FIDO UAF 1.1 (Authenticator Commands, section 5.2), with any defect that a test needs. */

/** The fields that both kinds of assertions share. */
export interface Statement {
  aaid: string;
  authenticatorVersion: number;
  /** 1: the user was verified; 2: and confirmed a transaction's content. */
  mode: number;
  algorithm: number;
  finalChallengeHash: Uint8Array;
  keyId: Uint8Array;
  signCounter: number;
  extensions: readonly Extension[];
}

export interface KeyRegistration extends Statement {
  keyFormat: number;
  regCounter: number;
  publicKey: Uint8Array;
}

export interface SignedStatement extends Statement {
  nonce: Uint8Array;
  transactionContentHash: Uint8Array;
}

export interface Extension {
  id: string;
  data: Uint8Array;
  critical: boolean;
}

/** Defects of a structure and its signature. */
export interface AssertionDefects {
  /** Edits inside the signed structure are made before signing, so that the signature stays valid. */
  tlv?: readonly TlvEdit[];
  /** One bit turned; ECDSA in DER whose `r` lacks its leading zero; or these bytes. */
  signature?: "flipped" | "negative r" | Uint8Array;
  /** Another key of the same kind. */
  signWith?: KeyObject;
}

/** The attestation authority; each statement gets a new leaf certificate. */
export interface FullAttestation {
  authority: Certificate;
  /** Further certificates of the chain, in order, after the leaf. */
  above?: readonly Certificate[];
  /** Overrides details of the leaf. */
  certificate?: Partial<CertificateDetails>;
}

/** `ecdaa` has no valid signature. */
export type Attestation = "surrogate" | "ecdaa" | FullAttestation;

/**
 * TAG_UAFV1_REG_ASSERTION.
 *
 * @param signing algorithm of the attestation's signature, and the new key
 */
export function registrationAssertion(
  registration: KeyRegistration,
  attestation: Attestation,
  signing: { algorithm: UafAlgorithm; key: KeyObject },
  faults: AssertionDefects,
): Buffer {
  const krd = item(
    "krd",
    item("aaid", Buffer.from(registration.aaid)),
    item("assertionInfo", Buffer.concat([...infoOf(registration), u16(registration.keyFormat)])),
    item("finalChallengeHash", registration.finalChallengeHash),
    item("keyId", registration.keyId),
    item("counters", Buffer.concat([u32(registration.signCounter), u32(registration.regCounter)])),
    item("publicKey", registration.publicKey),
    ...registration.extensions.map(extensionItem),
  );
  const full = typeof attestation === "object" ? certified(attestation, signing.algorithm) : null;
  const signature = item(
    "signature",
    signatureOver(krd, { ...signing, ...(full ? { key: full.key } : {}) }, faults),
  );
  const stated = full
    ? item("basicFull", signature, ...full.chain.map((one) => item("attestationCert", one)))
    : item(attestation === "ecdaa" ? "ecdaa" : "basicSurrogate", signature);
  return encodeTlv(...edited([item("regAssertion", krd, stated)], faults.tlv ?? []));
}

/** TAG_UAFV1_AUTH_ASSERTION. */
export function authenticationAssertion(
  statement: SignedStatement,
  signing: { algorithm: UafAlgorithm; key: KeyObject },
  faults: AssertionDefects,
): Buffer {
  const signedData = item(
    "signedData",
    item("aaid", Buffer.from(statement.aaid)),
    item("assertionInfo", Buffer.concat(infoOf(statement))),
    item("nonce", statement.nonce),
    item("finalChallengeHash", statement.finalChallengeHash),
    item("transactionContentHash", statement.transactionContentHash),
    item("keyId", statement.keyId),
    item("counters", u32(statement.signCounter)),
    ...statement.extensions.map(extensionItem),
  );
  const signature = item("signature", signatureOver(signedData, signing, faults));
  return encodeTlv(...edited([item("authAssertion", signedData, signature)], faults.tlv ?? []));
}

/** Content of TAG_PUB_KEY; `spki` encodes any key as SubjectPublicKeyInfo, whatever its stated format. */
export const publicKeyBytes = (key: KeyObject, format: UafKeyFormat, spki = false): Buffer =>
  spki ? spkiOf(key) : exportUafKey(key, format);

export const sha256 = (data: string | Uint8Array): Buffer => createHash("sha256").update(data).digest();

const infoOf = ({ authenticatorVersion, mode, algorithm }: Statement) => [
  u16(authenticatorVersion),
  Buffer.of(mode),
  u16(algorithm),
];

const extensionItem = ({ id, data, critical }: Extension): Item =>
  item(
    critical ? "extensionCritical" : "extension",
    item("extensionId", Buffer.from(id)),
    item("extensionData", data),
  );

function signatureOver(
  signed: Item,
  { algorithm, key }: { algorithm: UafAlgorithm; key: KeyObject },
  { tlv = [], signature: wanted, signWith }: AssertionDefects,
): Uint8Array {
  if (wanted instanceof Uint8Array) return wanted;
  // Includes the header. Bytes after the structure are not signed; an omitted structure is signed nevertheless.
  const [as = signed] = edited([signed], tlv);
  const data = encodeTlv(as);
  if (wanted === "negative r") return negativeRSignature(data, signWith ?? key);
  const signature = uafSignature(algorithm, data, signWith ?? key);
  // The last byte is part of a number, so the encoding stays valid.
  if (wanted === "flipped") signature[signature.length - 1] = (signature.at(-1) ?? 0) ^ 1;
  return signature;
}

function certified({ authority, above = [], certificate }: FullAttestation, algorithm: UafAlgorithm) {
  const key = makeUafKey(algorithm);
  const leaf = makeCertificate({
    issuer: authority,
    subject: { C: "AA", O: "Example", CN: "Example UAF Attestation" },
    publicKey: createPublicKey(key),
    ...certificate,
  });
  return { key, chain: [leaf, ...above].map(({ der }) => der) };
}

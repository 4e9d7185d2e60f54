import { decodeBase64url, decodePaddedBase64url } from "../../lib/base64url.ts";
import { tags } from "./tags.ts";
import { TlvError } from "./tlv.ts";
import {
  bytes,
  field,
  type Member,
  oneOf,
  oneOrMore,
  parseTlvStructure,
  signedStructure,
  structure,
  type ValueOf,
} from "./tlv-structure.ts";

/** Assertions of UAF Authenticator Commands 1.1, by their structures. */

/** The only assertion scheme. */
export const ASSERTION_SCHEME = "UAFV1TLV";

const MAX_ASSERTION_BYTES = 4096;

/** How the user took part: verified, or verified and confirmed the transaction that was shown. */
export const modes = { userVerified: 1, transactionConfirmed: 2 } as const;

/** Upper-case: the hex digits of an AAID are case-insensitive (UAF Protocol Specification 1.1, typedef AAID). */
const aaid = field(tags.AAID, 9, (value) => value.toString("latin1").toUpperCase());
const finalChallengeHash = bytes(tags.FINAL_CHALLENGE_HASH, 32);
const keyId = bytes(tags.KEYID, [1, 2048]);
const signature = bytes(tags.SIGNATURE, [1, MAX_ASSERTION_BYTES]);

const readInfo = (value: Buffer) => ({
  authenticatorVersion: value.readUInt16LE(0),
  /** One of `modes`. */
  mode: value.readUInt8(2),
  algorithm: value.readUInt16LE(3),
});

/** An authentication assertion (section 5.2.2). */
export const authenticationAssertion = structure(tags.UAFV1_AUTH_ASSERTION, {
  signed: signedStructure(tags.UAFV1_SIGNED_DATA, {
    aaid,
    info: field(tags.ASSERTION_INFO, 5, readInfo),
    nonce: bytes(tags.AUTHENTICATOR_NONCE, [8, MAX_ASSERTION_BYTES]),
    finalChallengeHash,
    /** Empty if no transaction was shown. */
    transactionContentHash: bytes(tags.TRANSACTION_CONTENT_HASH, [0, 32]),
    keyId,
    signCounter: field(tags.COUNTERS, 4, (value) => value.readUInt32LE(0)),
  }),
  signature,
});

/** A registration assertion (section 5.2.1). */
export const registrationAssertion = structure(tags.UAFV1_REG_ASSERTION, {
  signed: signedStructure(tags.UAFV1_KRD, {
    aaid,
    info: field(tags.ASSERTION_INFO, 7, (value) => ({
      ...readInfo(value),
      /** Format of the public key. */
      keyFormat: value.readUInt16LE(5),
    })),
    finalChallengeHash,
    keyId,
    counters: field(tags.COUNTERS, 8, (value) => ({
      signCounter: value.readUInt32LE(0),
      regCounter: value.readUInt32LE(4),
    })),
    publicKey: bytes(tags.PUB_KEY),
  }),
  attestation: oneOf({
    /** Signed by an attestation key, whose certificate comes first. */
    full: structure(tags.ATTESTATION_BASIC_FULL, {
      signature,
      certificates: oneOrMore(bytes(tags.ATTESTATION_CERT)),
    }),
    /** Signed by the registered key itself. */
    surrogate: structure(tags.ATTESTATION_BASIC_SURROGATE, { signature }),
    /** Signed with direct anonymous attestation. */
    ecdaa: bytes(tags.ATTESTATION_ECDAA),
  }),
});

type Attestation = ValueOf<typeof registrationAssertion>["attestation"];

export type FullAttestation = Extract<Attestation, { type: "full" }>["value"];

/**
 * Decodes an assertion from base64url and parses it.
 *
 * @param strict whether to reject padding, which some clients add
 * @returns null if the assertion is not base64url, too long or malformed
 */
export function decodeAssertion<Assertion>(
  text: string,
  form: Member<Assertion>,
  strict: boolean,
): Assertion | null {
  const decoded = strict ? decodeBase64url(text) : decodePaddedBase64url(text);
  if (decoded === null || decoded.length > MAX_ASSERTION_BYTES) return null;
  try {
    return parseTlvStructure(decoded, { assertion: form }).assertion;
  } catch (error) {
    if (error instanceof TlvError) return null;
    throw error;
  }
}

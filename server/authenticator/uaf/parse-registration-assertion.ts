import { ASSERTION_INFO_BYTES, type AssertionInfo, parseAssertionInfo } from "./assertion-info.ts";
import { fieldLengths, parseAaid } from "./assertion-scheme.ts";
import { tags } from "./tags.ts";
import type { TlvItem } from "./tlv.ts";
import { exactlyOne, oneOrMore, parseTlvStructure } from "./tlv-structure.ts";

/** A parsed registration assertion (UAF Authenticator Commands 1.1, section 5.2.1). */
export interface RegistrationAssertion {
  /** The bytes that the attestation's signature covers. */
  signed: Buffer;
  aaid: string;
  info: AssertionInfo & { keyFormat: number };
  finalChallengeHash: Buffer;
  keyId: Buffer;
  signCounter: number;
  regCounter: number;
  /** In the format of `info.keyFormat`. */
  publicKey: Buffer;
  attestation: Attestation;
}

export type Attestation =
  /** Signed by an attestation key, whose certificate comes first. */
  | { type: "full"; signature: Buffer; certificates: readonly Buffer[] }
  /** Signed by the registered key itself. */
  | { type: "surrogate"; signature: Buffer }
  /** Signed with direct anonymous attestation. */
  | { type: "ecdaa" };

const envelope = { assertion: exactlyOne(tags.UAFV1_REG_ASSERTION, fieldLengths.object) };

const assertion = {
  keyRegistrationData: exactlyOne(tags.UAFV1_KRD, fieldLengths.object),
  attestation: exactlyOne(
    [tags.ATTESTATION_BASIC_FULL, tags.ATTESTATION_BASIC_SURROGATE, tags.ATTESTATION_ECDAA],
    fieldLengths.object,
  ),
};

const keyRegistrationData = {
  aaid: exactlyOne(tags.AAID, fieldLengths.aaid),
  info: exactlyOne(tags.ASSERTION_INFO, ASSERTION_INFO_BYTES + 2),
  finalChallengeHash: exactlyOne(tags.FINAL_CHALLENGE_HASH, fieldLengths.hash),
  keyId: exactlyOne(tags.KEYID, fieldLengths.keyId),
  counters: exactlyOne(tags.COUNTERS, 2 * fieldLengths.counter),
  publicKey: exactlyOne(tags.PUB_KEY, fieldLengths.object),
};

const fullAttestation = {
  signature: exactlyOne(tags.SIGNATURE, fieldLengths.signature),
  certificates: oneOrMore(tags.ATTESTATION_CERT, fieldLengths.object),
};

const surrogateAttestation = { signature: exactlyOne(tags.SIGNATURE, fieldLengths.signature) };

/** @throws TlvError unless the bytes are exactly one registration assertion */
export function parseRegistrationAssertion(bytes: Buffer): RegistrationAssertion {
  const outer = parseTlvStructure(bytes, envelope);
  const parts = parseTlvStructure(outer.assertion.value, assertion);
  const stated = parseTlvStructure(parts.keyRegistrationData.value, keyRegistrationData, "extensible");
  return {
    signed: parts.keyRegistrationData.whole,
    aaid: parseAaid(stated.aaid.value),
    info: {
      ...parseAssertionInfo(stated.info.value),
      keyFormat: stated.info.value.readUInt16LE(ASSERTION_INFO_BYTES),
    },
    finalChallengeHash: stated.finalChallengeHash.value,
    keyId: stated.keyId.value,
    signCounter: stated.counters.value.readUInt32LE(0),
    regCounter: stated.counters.value.readUInt32LE(fieldLengths.counter),
    publicKey: stated.publicKey.value,
    attestation: parseAttestation(parts.attestation),
  };
}

function parseAttestation({ tag, value }: TlvItem): Attestation {
  if (tag === tags.ATTESTATION_ECDAA) return { type: "ecdaa" };
  if (tag === tags.ATTESTATION_BASIC_SURROGATE)
    return { type: "surrogate", signature: parseTlvStructure(value, surrogateAttestation).signature.value };
  const { signature, certificates } = parseTlvStructure(value, fullAttestation);
  return { type: "full", signature: signature.value, certificates: certificates.map(({ value }) => value) };
}

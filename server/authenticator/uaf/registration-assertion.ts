import { type AssertionInfo, assertionInfoOf, assertionInfoSize } from "./assertion-info.ts";
import { aaidOf, lengths } from "./assertion-scheme.ts";
import { tags } from "./tags.ts";
import type { TlvItem } from "./tlv.ts";
import { one, readObject, several } from "./tlv-structure.ts";

/** What an authenticator states about a key that it has made, and who vouches for it. */
export interface RegistrationAssertion {
  /** The statement as it was signed. */
  signed: Buffer;
  aaid: string;
  info: AssertionInfo & { keyFormat: number };
  finalChallengeHash: Buffer;
  keyId: Buffer;
  signCounter: number;
  regCounter: number;
  /** In the format that `info` names. */
  publicKey: Buffer;
  attestation: Attestation;
}

export type Attestation =
  /** Signed by a key of its maker's, whose certificate comes first. */
  | { type: "full"; signature: Buffer; certificates: readonly Buffer[] }
  /** Signed by the new key itself. */
  | { type: "surrogate"; signature: Buffer }
  /** Signed by a member of a group, who stays unknown. */
  | { type: "ecdaa" };

/** UAF Authenticator Commands 1.1, section 5.2.1: the assertion around everything. */
const envelope = { assertion: one(tags.UAFV1_REG_ASSERTION, lengths.object) };

const assertion = {
  keyRegistrationData: one(tags.UAFV1_KRD, lengths.object),
  attestation: one(
    [tags.ATTESTATION_BASIC_FULL, tags.ATTESTATION_BASIC_SURROGATE, tags.ATTESTATION_ECDAA],
    lengths.object,
  ),
};

const keyRegistrationData = {
  aaid: one(tags.AAID, lengths.aaid),
  info: one(tags.ASSERTION_INFO, assertionInfoSize + 2),
  finalChallengeHash: one(tags.FINAL_CHALLENGE_HASH, lengths.hash),
  keyId: one(tags.KEYID, lengths.keyId),
  counters: one(tags.COUNTERS, 2 * lengths.counter),
  publicKey: one(tags.PUB_KEY, lengths.object),
};

const fullAttestation = {
  signature: one(tags.SIGNATURE, lengths.signature),
  certificates: several(tags.ATTESTATION_CERT, lengths.object),
};

const attestationByItself = { signature: one(tags.SIGNATURE, lengths.signature) };

/** @throws TlvError for anything but one registration assertion */
export function registrationAssertionOf(bytes: Buffer): RegistrationAssertion {
  const outer = readObject(bytes, envelope);
  const parts = readObject(outer.assertion.value, assertion);
  const stated = readObject(parts.keyRegistrationData.value, keyRegistrationData, "extensible");
  return {
    signed: parts.keyRegistrationData.whole,
    aaid: aaidOf(stated.aaid.value),
    info: {
      ...assertionInfoOf(stated.info.value),
      keyFormat: stated.info.value.readUInt16LE(assertionInfoSize),
    },
    finalChallengeHash: stated.finalChallengeHash.value,
    keyId: stated.keyId.value,
    signCounter: stated.counters.value.readUInt32LE(0),
    regCounter: stated.counters.value.readUInt32LE(lengths.counter),
    publicKey: stated.publicKey.value,
    attestation: attestationOf(parts.attestation),
  };
}

function attestationOf({ tag, value }: TlvItem): Attestation {
  if (tag === tags.ATTESTATION_ECDAA) return { type: "ecdaa" };
  if (tag === tags.ATTESTATION_BASIC_SURROGATE)
    return { type: "surrogate", signature: readObject(value, attestationByItself).signature.value };
  const { signature, certificates } = readObject(value, fullAttestation);
  return { type: "full", signature: signature.value, certificates: certificates.map(({ value }) => value) };
}

import { type AssertionInfo, assertionInfoOf, assertionInfoSize } from "./assertion-info.ts";
import { aaidOf, lengths } from "./assertion-scheme.ts";
import { tags } from "./tags.ts";
import { one, readObject } from "./tlv-structure.ts";

/** What an authenticator signs with a key that it has made before. */
export interface AuthenticationAssertion {
  /** What was signed, as it was signed. */
  signed: Buffer;
  signature: Buffer;
  aaid: string;
  info: AssertionInfo;
  finalChallengeHash: Buffer;
  /** Empty where no content was shown. */
  transactionContentHash: Buffer;
  keyId: Buffer;
  signCounter: number;
}

/** UAF Authenticator Commands 1.1, section 5.2.2: the assertion around everything. */
const envelope = { assertion: one(tags.UAFV1_AUTH_ASSERTION, lengths.object) };

const assertion = {
  signedData: one(tags.UAFV1_SIGNED_DATA, lengths.object),
  signature: one(tags.SIGNATURE, lengths.signature),
};

const signedData = {
  aaid: one(tags.AAID, lengths.aaid),
  info: one(tags.ASSERTION_INFO, assertionInfoSize),
  nonce: one(tags.AUTHENTICATOR_NONCE, [8, lengths.object[1]]),
  finalChallengeHash: one(tags.FINAL_CHALLENGE_HASH, lengths.hash),
  transactionContentHash: one(tags.TRANSACTION_CONTENT_HASH, [0, lengths.hash]),
  keyId: one(tags.KEYID, lengths.keyId),
  counters: one(tags.COUNTERS, lengths.counter),
};

/** @throws TlvError for anything but one authentication assertion */
export function authenticationAssertionOf(bytes: Buffer): AuthenticationAssertion {
  const outer = readObject(bytes, envelope);
  const parts = readObject(outer.assertion.value, assertion);
  const stated = readObject(parts.signedData.value, signedData, "extensible");
  return {
    signed: parts.signedData.whole,
    signature: parts.signature.value,
    aaid: aaidOf(stated.aaid.value),
    info: assertionInfoOf(stated.info.value),
    finalChallengeHash: stated.finalChallengeHash.value,
    transactionContentHash: stated.transactionContentHash.value,
    keyId: stated.keyId.value,
    signCounter: stated.counters.value.readUInt32LE(0),
  };
}

import { ASSERTION_INFO_BYTES, type AssertionInfo, parseAssertionInfo } from "./assertion-info.ts";
import { fieldLengths, parseAaid } from "./assertion-scheme.ts";
import { tags } from "./tags.ts";
import { exactlyOne, parseTlvStructure } from "./tlv-structure.ts";

/** A parsed authentication assertion (UAF Authenticator Commands 1.1, section 5.2.2). */
export interface AuthenticationAssertion {
  /** The bytes that the signature covers. */
  signed: Buffer;
  signature: Buffer;
  aaid: string;
  info: AssertionInfo;
  finalChallengeHash: Buffer;
  /** Empty if no transaction was shown. */
  transactionContentHash: Buffer;
  keyId: Buffer;
  signCounter: number;
}

const envelope = { assertion: exactlyOne(tags.UAFV1_AUTH_ASSERTION, fieldLengths.object) };

const assertion = {
  signedData: exactlyOne(tags.UAFV1_SIGNED_DATA, fieldLengths.object),
  signature: exactlyOne(tags.SIGNATURE, fieldLengths.signature),
};

const signedData = {
  aaid: exactlyOne(tags.AAID, fieldLengths.aaid),
  info: exactlyOne(tags.ASSERTION_INFO, ASSERTION_INFO_BYTES),
  nonce: exactlyOne(tags.AUTHENTICATOR_NONCE, [8, fieldLengths.object[1]]),
  finalChallengeHash: exactlyOne(tags.FINAL_CHALLENGE_HASH, fieldLengths.hash),
  transactionContentHash: exactlyOne(tags.TRANSACTION_CONTENT_HASH, [0, fieldLengths.hash]),
  keyId: exactlyOne(tags.KEYID, fieldLengths.keyId),
  counters: exactlyOne(tags.COUNTERS, fieldLengths.counter),
};

/** @throws TlvError unless the bytes are exactly one authentication assertion */
export function parseAuthenticationAssertion(bytes: Buffer): AuthenticationAssertion {
  const outer = parseTlvStructure(bytes, envelope);
  const parts = parseTlvStructure(outer.assertion.value, assertion);
  const stated = parseTlvStructure(parts.signedData.value, signedData, "extensible");
  return {
    signed: parts.signedData.whole,
    signature: parts.signature.value,
    aaid: parseAaid(stated.aaid.value),
    info: parseAssertionInfo(stated.info.value),
    finalChallengeHash: stated.finalChallengeHash.value,
    transactionContentHash: stated.transactionContentHash.value,
    keyId: stated.keyId.value,
    signCounter: stated.counters.value.readUInt32LE(0),
  };
}

/** Tags of the assertion scheme UAFV1TLV, by their names in UAF Authenticator Commands 1.1. */
export const tags = {
  UAFV1_REG_ASSERTION: 0x3e01,
  UAFV1_AUTH_ASSERTION: 0x3e02,
  UAFV1_KRD: 0x3e03,
  UAFV1_SIGNED_DATA: 0x3e04,
  ATTESTATION_CERT: 0x2e05,
  SIGNATURE: 0x2e06,
  ATTESTATION_BASIC_FULL: 0x3e07,
  ATTESTATION_BASIC_SURROGATE: 0x3e08,
  ATTESTATION_ECDAA: 0x3e09,
  KEYID: 0x2e09,
  FINAL_CHALLENGE_HASH: 0x2e0a,
  AAID: 0x2e0b,
  PUB_KEY: 0x2e0c,
  COUNTERS: 0x2e0d,
  ASSERTION_INFO: 0x2e0e,
  AUTHENTICATOR_NONCE: 0x2e0f,
  TRANSACTION_CONTENT_HASH: 0x2e10,
  /** An extension that a reader must reject if it does not know it. */
  EXTENSION: 0x3e11,
  /** An extension that a reader may skip, although its tag has the critical bit. */
  EXTENSION_NON_CRITICAL: 0x3e12,
  EXTENSION_ID: 0x2e13,
  EXTENSION_DATA: 0x2e14,
} as const;

/** Set in tags that a reader must not skip if it does not know them. */
const CRITICAL_BIT = 0x2000;

export const isCritical = (tag: number) => (tag & CRITICAL_BIT) !== 0;

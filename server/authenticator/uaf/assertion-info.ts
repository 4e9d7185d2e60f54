/** The content of tag ASSERTION_INFO (UAF Authenticator Commands 1.1). */
export interface AssertionInfo {
  authenticatorVersion: number;
  /** One of `modes`. */
  mode: number;
  algorithm: number;
}

/** How the user took part: verified, or verified and confirmed the transaction that was shown. */
export const modes = { userVerified: 1, transactionConfirmed: 2 } as const;

/** In an authentication. In a registration, two more bytes follow: the format of the public key. */
export const ASSERTION_INFO_BYTES = 5;

/** @param value at least `ASSERTION_INFO_BYTES` long */
export function parseAssertionInfo(value: Buffer): AssertionInfo {
  return {
    authenticatorVersion: value.readUInt16LE(0),
    mode: value.readUInt8(2),
    algorithm: value.readUInt16LE(3),
  };
}

/** How an assertion was made: UAF Authenticator Commands 1.1, tag ASSERTION_INFO. */
export interface AssertionInfo {
  authenticatorVersion: number;
  /** 1: the user was verified. 2: and confirmed the content that was shown. */
  mode: number;
  algorithm: number;
}

export const modes = { userVerified: 1, transactionConfirmed: 2 } as const;

/** Bytes of it in an authentication; in a registration two more follow, for the format of the public key. */
export const assertionInfoSize = 5;

/** @param value `assertionInfoSize` bytes at least */
export function assertionInfoOf(value: Buffer): AssertionInfo {
  return {
    authenticatorVersion: value.readUInt16LE(0),
    mode: value.readUInt8(2),
    algorithm: value.readUInt16LE(3),
  };
}

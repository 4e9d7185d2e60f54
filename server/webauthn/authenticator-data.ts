import { CborError, cborItemLength } from "./cbor.ts";

/** Authenticator data (WebAuthn Level 3, 6.1), without attested credential data and extensions. */
export interface AuthenticatorData {
  /** SHA-256 of the relying party's id. */
  rpIdHash: Buffer;
  userPresent: boolean;
  userVerified: boolean;
  backupEligible: boolean;
  backedUp: boolean;
  signCount: number;
}

/** Bits of the flags. */
const UP = 0x01;
const UV = 0x04;
const BE = 0x08;
const BS = 0x10;
const AT = 0x40;
const ED = 0x80;

/** Hash, flags and counter. */
const FIXED_LENGTH = 37;

/** Bytes of the AAGUID before the length of the credential id (6.5.2). */
const AAGUID_LENGTH = 16;

const CBOR_MAP = 5;

/**
 * Reads authenticator data.
 *
 * @returns null unless the bytes are exactly the parts that the flags name
 */
export function readAuthenticatorData(bytes: Buffer): AuthenticatorData | null {
  const flags = bytes[32] ?? 0;
  if (bytes.length < FIXED_LENGTH || endOf(bytes, flags) !== bytes.length) return null;
  const has = (flag: number) => (flags & flag) !== 0;
  return {
    rpIdHash: bytes.subarray(0, 32),
    userPresent: has(UP),
    userVerified: has(UV),
    backupEligible: has(BE),
    backedUp: has(BS),
    signCount: bytes.readUInt32BE(33),
  };
}

/** The end of the parts that the flags name; null if one is malformed. */
function endOf(bytes: Buffer, flags: number): number | null {
  let end = FIXED_LENGTH;
  try {
    if (flags & AT) {
      const id = end + AAGUID_LENGTH;
      if (bytes.length < id + 2) return null;
      end = id + 2 + bytes.readUInt16BE(id);
      end += cborMapLength(bytes.subarray(end));
    }
    return flags & ED ? end + cborMapLength(bytes.subarray(end)) : end;
  } catch (error) {
    if (error instanceof CborError) return null;
    throw error;
  }
}

/** A public key (RFC 9052, 7) and extensions (6.1) are maps. */
function cborMapLength(bytes: Buffer): number {
  if ((bytes[0] ?? 0) >> 5 !== CBOR_MAP) throw new CborError("not a map");
  return cborItemLength(bytes);
}

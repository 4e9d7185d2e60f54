import { CborError, cborItemLength } from "./cbor.ts";

/** Authenticator data (WebAuthn Level 3, 6.1), without extensions. */
export interface AuthenticatorData {
  /** SHA-256 of the relying party's id. */
  rpIdHash: Buffer;
  userPresent: boolean;
  userVerified: boolean;
  backupEligible: boolean;
  backedUp: boolean;
  signCount: number;
  /** COSE_Key of the attested credential (6.5.2), as it was sent; absent at authentication. */
  publicKey?: Buffer;
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
  const parts = bytes.length < FIXED_LENGTH ? null : partsOf(bytes, flags);
  if (parts?.end !== bytes.length) return null;
  const has = (flag: number) => (flags & flag) !== 0;
  return {
    rpIdHash: bytes.subarray(0, 32),
    userPresent: has(UP),
    userVerified: has(UV),
    backupEligible: has(BE),
    backedUp: has(BS),
    signCount: bytes.readUInt32BE(33),
    ...(parts.publicKey ? { publicKey: parts.publicKey } : {}),
  };
}

/** The end of the parts that the flags name, and the public key among them; null if one is malformed. */
function partsOf(bytes: Buffer, flags: number): { end: number; publicKey?: Buffer } | null {
  let end = FIXED_LENGTH;
  let publicKey: Buffer | undefined;
  try {
    if (flags & AT) {
      const id = end + AAGUID_LENGTH;
      if (bytes.length < id + 2) return null;
      end = id + 2 + bytes.readUInt16BE(id);
      publicKey = bytes.subarray(end, end + cborMapLength(bytes.subarray(end)));
      end += publicKey.length;
    }
    if (flags & ED) end += cborMapLength(bytes.subarray(end));
    return { end, ...(publicKey ? { publicKey } : {}) };
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

import type { KeyObject } from "node:crypto";
import { cborItemLength } from "../../webauthn/cbor.ts";
import { importKey, isAcceptableKey } from "../../webauthn/cose-key.ts";
import { keyOfNamedPoint, keyOfPoint } from "./curve-points.ts";
import { type Curve, isOfKind, type KeyKind } from "./key-kinds.ts";
import { derRsaKey, rawRsaKey } from "./rsa-keys.ts";

/** How keys are read from a format, of the kinds that it is for. Null, or an error, for what is no key. */
interface Format {
  point?: (encoded: Buffer, curve: Curve) => KeyObject | null;
  rsa?: (encoded: Buffer) => KeyObject | null;
}

/** The key of a passkey, and nothing after it. */
function coseKey(encoded: Buffer): KeyObject | null {
  const whole = cborItemLength(encoded) === encoded.length;
  return whole && isAcceptableKey(encoded) ? importKey(encoded) : null;
}

/** Formats of public keys, by their identifiers in the FIDO Registry of Predefined Values (section 3.6.2). */
const formats: ReadonlyMap<number, Format> = new Map<number, Format>([
  // ECC_X962_RAW: which curve the point is of, the signature algorithm says.
  [0x0100, { point: keyOfPoint }],
  // ECC_X962_DER
  [0x0101, { point: keyOfNamedPoint }],
  // RSA_2048_RAW
  [0x0102, { rsa: rawRsaKey }],
  // RSA_2048_DER
  [0x0103, { rsa: derRsaKey }],
  // COSE
  [0x0104, { point: coseKey, rsa: coseKey }],
]);

export const keyFormats: readonly number[] = [...formats.keys()];

/**
 * Imports a public key that an authenticator made.
 *
 * @param format one of `keyFormats`
 * @param kind the only kind that will do
 * @returns null when the bytes are no key of that kind in that format, the point does not lie on its curve, or an RSA
 *   key is shorter than 2048 bits
 */
export function importPublicKey(encoded: Buffer, format: number, kind: KeyKind): KeyObject | null {
  const { point, rsa } = formats.get(format) ?? {};
  try {
    const key = kind === "RSA" ? rsa?.(encoded) : point?.(encoded, kind);
    return key && isOfKind(key, kind) ? key : null;
  } catch {
    return null;
  }
}

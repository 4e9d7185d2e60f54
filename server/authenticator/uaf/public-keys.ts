import type { KeyObject } from "node:crypto";
import { importCredentialKey, type KeyOrigin } from "../../webauthn/cose-key.ts";
import { importCurvePoint, importCurveSpki } from "./curve-points.ts";
import { type Curve, isOfKind, type KeyKind } from "./key-kinds.ts";
import { importDerRsaKey, importRawRsaKey } from "./rsa-keys.ts";

/** The importers of a key format, by kind of key. They return null or throw for malformed keys. */
interface Format {
  point?: (encoded: Buffer, curve: Curve) => KeyObject | null;
  rsa?: (encoded: Buffer, origin: KeyOrigin) => KeyObject | null;
}

/** Formats of public keys by their identifiers (FIDO Registry of Predefined Values, section 3.6.2). */
const formats: ReadonlyMap<number, Format> = new Map<number, Format>([
  // ECC_X962_RAW: the signature algorithm determines the curve.
  [0x0100, { point: importCurvePoint }],
  // ECC_X962_DER
  [0x0101, { point: importCurveSpki }],
  // RSA_2048_RAW
  [0x0102, { rsa: importRawRsaKey }],
  // RSA_2048_DER
  [0x0103, { rsa: importDerRsaKey }],
  // COSE: exactly one COSE_Key, as passkeys have it.
  [
    0x0104,
    {
      point: (encoded) => importCredentialKey(encoded)?.key ?? null,
      rsa: (encoded, origin) => importCredentialKey(encoded, origin)?.key ?? null,
    },
  ],
]);

export const keyFormats: readonly number[] = [...formats.keys()];

/**
 * Imports the public key of an authenticator.
 *
 * @param format one of `keyFormats`
 * @param kind the only accepted kind
 * @param origin as for `importCredentialKey`
 * @returns null if the bytes are not a key of that kind in that format, the point does not lie on its curve, or an RSA
 *   key is too weak
 */
export function importPublicKey(
  encoded: Buffer,
  format: number,
  kind: KeyKind,
  origin: KeyOrigin = "registration",
): KeyObject | null {
  const { point, rsa } = formats.get(format) ?? {};
  try {
    const key = kind === "RSA" ? rsa?.(encoded, origin) : point?.(encoded, kind);
    return key && isOfKind(key, kind) ? key : null;
  } catch {
    return null;
  }
}

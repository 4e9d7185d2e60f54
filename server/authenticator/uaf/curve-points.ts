import { createPublicKey, type KeyObject } from "node:crypto";
import { isSafeEd25519Point } from "../../lib/edwards25519.ts";
import type { Curve } from "./key-kinds.ts";

interface CurveEncoding {
  /** The bytes of a SubjectPublicKeyInfo (RFC 5480, RFC 8410) before the point. */
  spkiPrefix: Buffer;
  /** Bytes of an uncompressed point (04, X, Y), or of an Ed25519 point (RFC 8032). */
  pointSize: number;
}

const hex = (text: string) => Buffer.from(text, "hex");

const curves: Record<Curve, CurveEncoding> = {
  "P-256": { spkiPrefix: hex("3059301306072a8648ce3d020106082a8648ce3d030107034200"), pointSize: 65 },
  secp256k1: { spkiPrefix: hex("3056301006072a8648ce3d020106052b8104000a034200"), pointSize: 65 },
  "P-384": { spkiPrefix: hex("3076301006072a8648ce3d020106052b81040022036200"), pointSize: 97 },
  "P-521": { spkiPrefix: hex("30819b301006072a8648ce3d020106052b8104002303818600"), pointSize: 133 },
  Ed25519: { spkiPrefix: hex("302a300506032b6570032100"), pointSize: 32 },
};

/**
 * Imports a point of a curve as a public key.
 *
 * @returns null if the size is wrong, the point is compressed, or it does not lie on Ed25519 or has small order
 * @throws Error if the point does not lie on one of the other curves
 */
export function importCurvePoint(point: Buffer, curve: Curve): KeyObject | null {
  const { spkiPrefix, pointSize } = curves[curve];
  if (point.length !== pointSize) return null;
  const acceptable = curve === "Ed25519" ? isSafeEd25519Point(point) : point[0] === 0x04;
  if (!acceptable) return null;
  return createPublicKey({ key: Buffer.concat([spkiPrefix, point]), format: "der", type: "spki" });
}

/** Imports a SubjectPublicKeyInfo that names the curve, in its only DER encoding. Returns and throws as above. */
export function importCurveSpki(spki: Buffer, curve: Curve): KeyObject | null {
  const { spkiPrefix } = curves[curve];
  return spki.subarray(0, spkiPrefix.length).equals(spkiPrefix)
    ? importCurvePoint(spki.subarray(spkiPrefix.length), curve)
    : null;
}

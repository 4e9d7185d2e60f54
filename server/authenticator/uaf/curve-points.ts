import { createPublicKey, type KeyObject } from "node:crypto";
import { isAcceptableKey } from "../../webauthn/cose-key.ts";
import type { Curve } from "./key-kinds.ts";

interface Written {
  /** What a SubjectPublicKeyInfo (RFC 5480, RFC 8410) has before the point, which is its end. */
  head: Buffer;
  /** Bytes of a point: 04, X and Y; of Ed25519 as RFC 8032 writes it. */
  pointSize: number;
}

const hex = (text: string) => Buffer.from(text, "hex");

const curves: Record<Curve, Written> = {
  "P-256": { head: hex("3059301306072a8648ce3d020106082a8648ce3d030107034200"), pointSize: 65 },
  secp256k1: { head: hex("3056301006072a8648ce3d020106052b8104000a034200"), pointSize: 65 },
  "P-384": { head: hex("3076301006072a8648ce3d020106052b81040022036200"), pointSize: 97 },
  "P-521": { head: hex("30819b301006072a8648ce3d020106052b8104002303818600"), pointSize: 133 },
  Ed25519: { head: hex("302a300506032b6570032100"), pointSize: 32 },
};

/**
 * The public key that is a point of a curve.
 *
 * @returns null for another size, a compressed point, and for what does not lie on Ed25519
 * @throws Error for what does not lie on another curve
 */
export function keyOfPoint(point: Buffer, curve: Curve): KeyObject | null {
  const { head, pointSize } = curves[curve];
  if (point.length !== pointSize) return null;
  const acceptable = curve === "Ed25519" ? isOnEd25519(point) : point[0] === 0x04;
  if (!acceptable) return null;
  return createPublicKey({ key: Buffer.concat([head, point]), format: "der", type: "spki" });
}

/** The same from a SubjectPublicKeyInfo that names the curve; there is one way to write it. */
export function keyOfNamedPoint(spki: Buffer, curve: Curve): KeyObject | null {
  const { head } = curves[curve];
  return spki.subarray(0, head.length).equals(head) ? keyOfPoint(spki.subarray(head.length), curve) : null;
}

/** A COSE_Key up to its point: of Ed25519, for EdDSA (RFC 9053 section 7.2). */
const ed25519CoseHead = hex("a4010103272006215820");

/** Importing a key does not ask that; whoever takes passkeys does. */
function isOnEd25519(point: Buffer): boolean {
  return isAcceptableKey(Buffer.concat([ed25519CoseHead, point]));
}

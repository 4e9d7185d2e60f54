import { createPublicKey, generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";
import type { JWK } from "jose";
import { type Cbor, encodeCbor } from "./cbor.ts";
import { smallOrderPoints } from "./small-order-points.ts";

/** COSE algorithms (RFC 9053, RFC 8812) that the software authenticator supports. */
export const coseAlgorithms = { ES256: -7, EdDSA: -8, ES256K: -47, RS256: -257 } as const;

export type CoseAlgorithm = (typeof coseAlgorithms)[keyof typeof coseAlgorithms];

/** The key pair of a credential, with the public key in COSE encoding. */
export interface CoseKey {
  algorithm: CoseAlgorithm;
  privateKey: KeyObject;
  publicKey: KeyObject;
  /** COSE_Key (RFC 9052 section 7), encoded. */
  cose: Buffer;
}

/** Generates a key pair. RSA keys have 2048 bits. */
export const makeKey = (algorithm: CoseAlgorithm): CoseKey =>
  coseKeyOf(algorithm, makePair(algorithm).privateKey);

/** Makes the key pair of a credential from an existing private key. */
export function coseKeyOf(algorithm: CoseAlgorithm, privateKey: KeyObject): CoseKey {
  const publicKey = createPublicKey(privateKey);
  return {
    algorithm,
    privateKey,
    publicKey,
    cose: encodeCoseKey(publicKey.export({ format: "jwk" }), algorithm),
  };
}

/**
 * Encodes a public key as COSE_Key.
 *
 * @param jwk an EC, OKP or RSA public key (RFC 7517)
 */
export function encodeCoseKey(jwk: JWK, algorithm: CoseAlgorithm): Buffer {
  const part = (value: string | undefined) => Buffer.from(value ?? "", "base64url");
  const key = new Map<number, Cbor>([[3, algorithm]]);
  if (jwk.kty === "EC") {
    key.set(1, 2).set(-1, algorithm === coseAlgorithms.ES256K ? 8 : 1);
    key.set(-2, part(jwk.x)).set(-3, part(jwk.y));
  } else if (jwk.kty === "OKP") {
    key.set(1, 1).set(-1, 6).set(-2, part(jwk.x));
  } else {
    key.set(1, 3).set(-1, part(jwk.n)).set(-2, part(jwk.e));
  }
  return encodeCbor(key);
}

/** A P-256 public key whose point does not lie on the curve. */
export function offCurveKey(): Buffer {
  // For one x at most two of all 2^256 values of y are on the curve; a random one never is.
  const { publicKey } = makePair(coseAlgorithms.ES256);
  const jwk = publicKey.export({ format: "jwk" });
  return encodeCoseKey({ ...jwk, y: randomBytes(32).toString("base64url") }, coseAlgorithms.ES256);
}

/** Ed25519 public keys of small order, in every encoding. */
export function smallOrderKeys(): Buffer[] {
  return smallOrderPoints.map((point) =>
    encodeCoseKey({ kty: "OKP", crv: "Ed25519", x: point.toString("base64url") }, coseAlgorithms.EdDSA),
  );
}

/** Signs in the format of WebAuthn section 6.5.5: ECDSA in ASN.1 DER, EdDSA and RSASSA-PKCS1-v1_5 raw. */
export function signWith(key: CoseKey, data: Uint8Array): Buffer {
  return sign(key.algorithm === coseAlgorithms.EdDSA ? null : "sha256", data, key.privateKey);
}

function makePair(algorithm: CoseAlgorithm) {
  switch (algorithm) {
    case coseAlgorithms.ES256:
      return generateKeyPairSync("ec", { namedCurve: "P-256" });
    case coseAlgorithms.ES256K:
      return generateKeyPairSync("ec", { namedCurve: "secp256k1" });
    case coseAlgorithms.EdDSA:
      return generateKeyPairSync("ed25519");
    case coseAlgorithms.RS256:
      return generateKeyPairSync("rsa", { modulusLength: 2048 });
  }
}

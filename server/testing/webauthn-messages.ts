import { createHash } from "node:crypto";
import { type Cbor, encodeCbor } from "./cbor.ts";

/** Encoders of the messages of Web Authentication Level 3, of the client and the authenticator. */

export interface ClientData {
  type: string;
  /** base64url. */
  challenge: string;
  origin: string;
  crossOrigin: boolean;
  topOrigin?: string;
}

/**
 * The serialisation of section 5.8.1.1: fixed order, no white space.
 *
 * @param byteOrderMark whether the text starts with U+FEFF, which a verifier has to strip
 */
export function clientDataJson(data: ClientData, byteOrderMark = false): Buffer {
  const { type, challenge, origin, crossOrigin, topOrigin } = data;
  const members = { type, challenge, origin, crossOrigin, ...(topOrigin === undefined ? {} : { topOrigin }) };
  return Buffer.from((byteOrderMark ? "\uFEFF" : "") + JSON.stringify(members), "utf8");
}

/** Flags of the authenticator data (section 6.1). */
export interface Flags {
  userPresent: boolean;
  userVerified: boolean;
  backupEligible: boolean;
  backedUp: boolean;
}

export interface AuthenticatorData extends Flags {
  rpId: string;
  signCount: number;
  /** Present at registration only. */
  attested?: { aaguid: Uint8Array; credentialId: Uint8Array; cose: Uint8Array };
  extensions?: ReadonlyMap<string, Cbor>;
}

/** Authenticator data of section 6.1; attested credential data of section 6.5.1. */
export function authenticatorData(data: AuthenticatorData): Buffer {
  const bits: [boolean, number][] = [
    [data.userPresent, 0],
    [data.userVerified, 2],
    [data.backupEligible, 3],
    [data.backedUp, 4],
    [data.attested !== undefined, 6],
    [data.extensions !== undefined, 7],
  ];
  const flags = bits.reduce((sum, [set, bit]) => sum | (set ? 1 << bit : 0), 0);
  const counter = Buffer.alloc(4);
  counter.writeUInt32BE(data.signCount);
  const parts: Uint8Array[] = [sha256(data.rpId), Buffer.from([flags]), counter];
  if (data.attested) {
    const length = Buffer.alloc(2);
    length.writeUInt16BE(data.attested.credentialId.length);
    parts.push(data.attested.aaguid, length, data.attested.credentialId, data.attested.cose);
  }
  if (data.extensions) parts.push(encodeCbor(data.extensions));
  return Buffer.concat(parts);
}

/** The attestation object of section 6.5.4. */
export function attestationObject(
  fmt: string,
  statement: ReadonlyMap<string, Cbor>,
  authData: Uint8Array,
): Buffer {
  return encodeCbor(
    new Map<string, Cbor>([
      ["fmt", fmt],
      ["attStmt", statement],
      ["authData", authData],
    ]),
  );
}

/** The signed bytes: authenticator data, then the hash of the client data (sections 6.3.3 and 8.2). */
export function signedBytes(authData: Uint8Array, clientData: Uint8Array): Buffer {
  return Buffer.concat([authData, sha256(clientData)]);
}

export const sha256 = (data: string | Uint8Array) => createHash("sha256").update(data).digest();

import {
  createCipheriv,
  createHash,
  createHmac,
  createPublicKey,
  type KeyObject,
  randomBytes,
  sign,
  timingSafeEqual,
  verify,
} from "node:crypto";
import { authenticatorApp } from "../../server/testing/authenticator-app.ts";
import type { Bare } from "./settings.ts";

/** What the hand-made server verifies and signs, without a library but Node's. */

export const sha256 = (data: string | Uint8Array) => createHash("sha256").update(data).digest();

/** Random text of 256 bits. */
export const secret = () => randomBytes(32).toString("base64url");

const sealingKey = randomBytes(32);

/** Encrypts by AES-256-GCM. */
export function seal(text: string): Buffer {
  const nonce = randomBytes(12);
  const cipher = createCipheriv("aes-256-gcm", sealingKey, nonce);
  return Buffer.concat([nonce, cipher.update(text), cipher.final(), cipher.getAuthTag()]);
}

/** A challenge of a login that is not started, base64url: time, 16 random bytes, and a keyed hash over both. */
export function sealChallenge(): string {
  const body = Buffer.concat([Buffer.alloc(6), randomBytes(16)]);
  body.writeUIntBE(Date.now(), 0, 6);
  return Buffer.concat([body, challengeMac(body)]).toString("base64url");
}

/** Whether this process has sealed a challenge, in the last ten minutes. */
export function isSealedChallenge(challenge: string): boolean {
  const sealed = Buffer.from(challenge, "base64url");
  const body = sealed.subarray(0, 22);
  return (
    sealed.length === 38 &&
    timingSafeEqual(challengeMac(body), sealed.subarray(22)) &&
    body.readUIntBE(0, 6) > Date.now() - 600_000
  );
}

const challengeMac = (body: Buffer) => createHmac("sha256", sealingKey).update(body).digest().subarray(0, 16);

/** @throws Error, which is answered with 500: nothing that the benchmark sends is rejected */
export function must(holds: boolean): asserts holds {
  if (!holds) throw new Error("rejected");
}

/** A JWT (RFC 7519). */
export function signJwt({ algorithm, signingKey: key }: Bare, claims: object, typ = "JWT"): string {
  const header = Buffer.from(JSON.stringify({ alg: algorithm, typ, kid: "bench" })).toString("base64url");
  const signed = `${header}.${Buffer.from(JSON.stringify(claims)).toString("base64url")}`;
  const options = algorithm === "ES256" ? { key, dsaEncoding: "ieee-p1363" as const } : key;
  const signature = sign(algorithm === "EdDSA" ? null : "sha256", Buffer.from(signed), options);
  return `${signed}.${signature.toString("base64url")}`;
}

/** The part of `PublicKeyCredential.toJSON()` that is verified. */
export interface Assertion {
  id: string;
  response: { clientDataJSON: string; authenticatorData: string; signature: string; userHandle?: string };
}

/** The challenge that an assertion answers; it is verified by `isValidAssertion`. */
export function challengeOf({ response }: Assertion): string {
  const data = JSON.parse(Buffer.from(response.clientDataJSON, "base64url").toString()) as {
    challenge: string;
  };
  return data.challenge;
}

/** Verifies an assertion (WebAuthn Level 3, section 7.2) of an ES256 key with user verification. */
export function isValidAssertion(
  { response }: Assertion,
  expected: { challenge: string; origin: string; publicKey: Buffer },
): boolean {
  const clientData = Buffer.from(response.clientDataJSON, "base64url");
  const { type, challenge, origin, crossOrigin } = JSON.parse(clientData.toString()) as Record<
    string,
    unknown
  >;
  const authData = Buffer.from(response.authenticatorData, "base64url");
  const relyingParty = sha256(new URL(expected.origin).hostname);
  return (
    type === "webauthn.get" &&
    challenge === expected.challenge &&
    origin === expected.origin &&
    crossOrigin !== true &&
    authData.subarray(0, 32).equals(relyingParty) &&
    ((authData[32] ?? 0) & 0b101) === 0b101 &&
    verify(
      "sha256",
      Buffer.concat([authData, sha256(clientData)]),
      coseKey(expected.publicKey),
      Buffer.from(response.signature, "base64url"),
    )
  );
}

/** The key of a COSE_Key on P-256: the byte strings of its labels -2 and -3. */
function coseKey(cose: Buffer): KeyObject {
  const part = (label: string) => {
    const at = cose.indexOf(Buffer.from(`${label}5820`, "hex")) + 3;
    return cose.subarray(at, at + 32).toString("base64url");
  };
  return createPublicKey({ key: { kty: "EC", crv: "P-256", x: part("21"), y: part("22") }, format: "jwk" });
}

/** Returns the time step that a code is of, or null. */
export function totpStep(secret: string, code: string): number | null {
  const [app, now] = [authenticatorApp(secret), Date.now()];
  const offset = [0, -1, 1].find((steps) => app.code(now, steps) === code);
  return offset === undefined ? null : Math.floor(now / 30_000) + offset;
}

/** What is stored of a mailed code. */
export const codeHash = (flowId: string, code: string) => createHmac("sha256", flowId).update(code).digest();

export const equal = (one: Buffer, other: Buffer | null) =>
  other !== null && one.length === other.length && timingSafeEqual(one, other);

/** A device with the key of an authenticator (FIDO UAF). */
export interface Device {
  id: string | null;
  key_id: Buffer;
  public_key: Buffer;
}

/** Verifies a response to a request (FIDO UAF 1.1), of ECDSA in DER on P-256. Returns the device, or null. */
export function uafSigner(uafResponse: string, challenge: string, devices: readonly Device[]): Device | null {
  const [message] = JSON.parse(uafResponse) as { fcParams: string; assertions: { assertion: string }[] }[];
  const assertion = Buffer.from(message?.assertions[0]?.assertion ?? "", "base64url");
  // Tag and length take two bytes each; the signed structure is signed with its own.
  const signed = assertion.subarray(4, 8 + assertion.readUInt16LE(6));
  const signature = assertion.subarray(4 + signed.length + 4);
  const items = new Map<number, Buffer>();
  for (let at = 4; at < signed.length; ) {
    const [tag, length] = [signed.readUInt16LE(at), signed.readUInt16LE(at + 2)];
    items.set(tag, signed.subarray(at + 4, at + 4 + length));
    at += 4 + length;
  }
  const [hash, keyId] = [items.get(0x2e0a), items.get(0x2e09)];
  const params = JSON.parse(Buffer.from(message?.fcParams ?? "", "base64url").toString()) as {
    challenge: string;
  };
  const device = devices.find(({ id, key_id }) => id !== null && keyId?.equals(key_id));
  if (!device || params.challenge !== challenge || !hash?.equals(sha256(message?.fcParams ?? "")))
    return null;
  const key = createPublicKey({ key: device.public_key, format: "der", type: "spki" });
  return verify("sha256", signed, key, signature) ? device : null;
}

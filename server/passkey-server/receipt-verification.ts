import { createHash, timingSafeEqual } from "node:crypto";
import { parseJson } from "../lib/strict-json.ts";
import { readClientData } from "../webauthn/responses.ts";
import { verifyCoseSignature } from "../webauthn/verify-signature.ts";
import { readCanonicalJson } from "./canonical-json.ts";
import { type ReceiptRejection, receiptRejections } from "./receipt-rejections.ts";
import { type KeySet, verifyIssuerSignature } from "./receipt-signature.ts";
import { isChallengeOf } from "./transaction-challenge.ts";

export { type KeySet, type ReceiptRejection, receiptRejections };

/** What a receipt is measured by. */
export interface ReceiptExpectations {
  /**
   * The issuer's public keys, as its `/.well-known/jwks.json` had them when the receipt was made: whoever keeps
   * receipts keeps them too, since they are taken down some time after they were replaced. With null the issuer's
   * signature is left aside, and nobody vouches for what the passkey did not sign: whose public key it is, the
   * user's id, the times, and which pages and relying party were the right ones.
   */
  jwks: KeySet | null;
  /** The passkey's public key as it was kept elsewhere: COSE_Key, base64url. */
  publicKey?: string | undefined;
  /** In place of the relying party that the receipt names. */
  relyingPartyId?: string | undefined;
  /** In place of the origins that the receipt names. */
  origins?: readonly string[] | undefined;
}

/** What a receipt that holds proves. */
export interface VerifiedReceipt {
  transactionId: string;
  userId: string;
  /** What was agreed to. */
  data: Record<string, unknown>;
  /** The same, character by character as it was hashed. */
  canonicalData: string;
  /** When the application asked, and when the user agreed, by the issuer's clock. */
  createdAt: Date;
  confirmedAt: Date;
  issuer: string;
  tenantId: string;
  /** The key that signed the receipt; null where that was left aside. */
  issuerKeyId: string | null;
  relyingPartyId: string;
  /** The page on which the user agreed. */
  origin: string;
  credentialId: string;
  /** COSE_Key, base64url. */
  publicKey: string;
  aaguid: string;
  /** Whether the authenticator made sure that it was its owner: by fingerprint, face or PIN. */
  userVerified: boolean;
}

export type ReceiptVerdict =
  | { ok: true; receipt: VerifiedReceipt }
  | { ok: false; code: ReceiptRejection; reason: string };

/** Flags of authenticator data (WebAuthn Level 3, 6.1). */
const USER_PRESENT = 0x01;
const USER_VERIFIED = 0x04;
const ATTESTED = 0x40;
const EXTENDED = 0x80;

/**
 * Verifies a receipt: who issued it, that the passkey it names signed just this transaction, and where. Needs nothing
 * but what it is given: no network, no database, no clock, no configuration. Throws for nothing.
 *
 * @param receipt as `transaction/finalize` handed it out
 */
export function verifyReceipt(receipt: string, expected: ReceiptExpectations): ReceiptVerdict {
  // Ensure the issuer signed it, whole (RFC 7515, 5.2).
  const read = verifyIssuerSignature(receipt, expected.jwks);
  if (!read.ok) return reject(read.reason);
  const { claims, keyId } = read;
  const { credential, response, relying_party: relyingParty } = claims;

  // Ensure there is one spelling of the data, so that the hash is of what is read here (RFC 8785).
  const data = readCanonicalJson(claims.data);
  if (!data) return reject("data_not_canonical");

  // Ensure the passkey was used to agree, not to be made (WebAuthn Level 3, 7.2 step 10).
  const clientData = readClientData(response.clientDataJSON);
  if (!clientData || !hasOneReading(response.clientDataJSON)) return reject("client_data_malformed");
  if (clientData.type !== "webauthn.get") return reject("wrong_ceremony");

  // Ensure what it signed is this transaction with this data (step 11).
  if (!isChallengeOf(clientData.challenge, claims.transaction_id, claims.data))
    return reject("challenge_mismatch");

  // Ensure the page was the relying party's, and nobody else's around it (steps 12 to 14).
  const origins = (expected.origins ?? relyingParty.origins).map(comparable);
  if (!origins.includes(comparable(clientData.origin))) return reject("origin_mismatch");
  if (clientData.crossOrigin === true || clientData.topOrigin !== undefined) return reject("framed");

  // Ensure the authenticator meant this relying party, and somebody was there (steps 15 and 16).
  const authenticatorData = Buffer.from(response.authenticatorData, "base64url");
  const flags = authenticatorData[32] ?? 0;
  const more = (flags & (ATTESTED | EXTENDED)) !== 0;
  if (more ? authenticatorData.length < 37 : authenticatorData.length !== 37)
    return reject("authenticator_data_malformed");
  const relyingPartyId = expected.relyingPartyId ?? relyingParty.id;
  if (!authenticatorData.subarray(0, 32).equals(sha256(relyingPartyId)))
    return reject("relying_party_mismatch");
  if ((flags & USER_PRESENT) === 0) return reject("user_absent");

  // Ensure the passkey is this user's, where it says whose it is (step 6).
  if (response.userHandle !== undefined && !handlesOf(claims.user_id).includes(response.userHandle))
    return reject("user_mismatch");

  // Ensure it is the passkey that was expected, and that it signed (steps 20 and 21).
  const publicKey = Buffer.from(credential.public_key, "base64url");
  if (expected.publicKey !== undefined && !isSame(expected.publicKey, publicKey))
    return reject("public_key_mismatch");
  const signed = Buffer.concat([
    authenticatorData,
    sha256(Buffer.from(response.clientDataJSON, "base64url")),
  ]);
  const verdict = verifyCoseSignature(publicKey, signed, Buffer.from(response.signature, "base64url"));
  if (verdict === null) return reject("public_key_unusable");
  if (!verdict) return reject("authenticator_signature");

  return {
    ok: true,
    receipt: {
      transactionId: claims.transaction_id,
      userId: claims.user_id,
      data,
      canonicalData: claims.data,
      createdAt: new Date(claims.created_at),
      confirmedAt: new Date(claims.confirmed_at),
      issuer: claims.iss,
      tenantId: claims.tenant_id,
      issuerKeyId: expected.jwks ? keyId : null,
      relyingPartyId,
      origin: clientData.origin,
      credentialId: credential.id,
      publicKey: credential.public_key,
      aaguid: credential.aaguid,
      userVerified: (flags & USER_VERIFIED) !== 0,
    },
  };
}

function reject(code: ReceiptRejection): ReceiptVerdict {
  return { ok: false, code, reason: receiptRejections[code] };
}

/** A member that occurs twice would be another one to another reader (RFC 7493, 2.3). */
function hasOneReading(clientDataJSON: string): boolean {
  return parseJson(new TextDecoder().decode(Buffer.from(clientDataJSON, "base64url"))) !== undefined;
}

/** Web origins are the same in any case of letters; the names of apps are not. */
function comparable(origin: string): string {
  return /^https?:/i.test(origin) ? origin.toLowerCase() : origin;
}

/** Padding does not matter: keys are kept in both ways. */
function isSame(encoded: string, publicKey: Buffer): boolean {
  const expected = Buffer.from(encoded, "base64url");
  return expected.length === publicKey.length && timingSafeEqual(expected, publicKey);
}

const sha256 = (data: string | Uint8Array) => createHash("sha256").update(data).digest();

/** By which authenticators may know the user: the bytes of the id's text, or those of the UUID that it is. */
function handlesOf(userId: string): string[] {
  const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(userId);
  const binary = uuid ? [Buffer.from(userId.replaceAll("-", ""), "hex").toString("base64url")] : [];
  return [Buffer.from(userId, "utf8").toString("base64url"), ...binary];
}

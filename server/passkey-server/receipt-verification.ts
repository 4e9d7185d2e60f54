import { constantTimeEqual } from "../lib/constant-time-equal.ts";
import { sha256 } from "../lib/sha256.ts";
import type { AttestationTrust } from "../webauthn/attestation-trust.ts";
import { readAuthenticatorData } from "../webauthn/authenticator-data.ts";
import { importCredentialKey } from "../webauthn/cose-key.ts";
import { readClientData } from "../webauthn/responses.ts";
import { verifySignature } from "../webauthn/verify-signature.ts";
import { readCanonicalJson } from "./canonical-json.ts";
import { type ReceiptRejection, receiptRejections } from "./receipt-rejections.ts";
import { type KeySet, verifyIssuerSignature } from "./receipt-signature.ts";
import { isChallengeOf } from "./transaction-challenge.ts";
import { userHandlesOf } from "./user-handles.ts";

export { type KeySet, type ReceiptRejection, receiptRejections };

/** What a receipt is verified against. */
export interface ReceiptExpectations {
  /**
   * The issuer's public keys, as published at `/.well-known/receipt-keys.json`, replaced ones included. Store them with the
   * receipts, to verify these without the issuer. With null the issuer's signature is not verified, and nothing
   * proves what the passkey did not sign: the owner of the public key, the user's id, the times, and the accepted origins
   * and relying party.
   */
  jwks: KeySet | null;
  /** The expected public key of the passkey: COSE_Key, base64url. */
  publicKey?: string | undefined;
  /** Replaces the relying party id of the receipt. */
  relyingPartyId?: string | undefined;
  /** Replaces the origins of the receipt. */
  origins?: readonly string[] | undefined;
}

/** The content of a valid receipt. */
export interface VerifiedReceipt {
  transactionId: string;
  userId: string;
  /** The confirmed data. */
  data: Record<string, unknown>;
  /** The exact text of `data` that was hashed. */
  canonicalData: string;
  /** When the transaction was initialized and confirmed, by the issuer's clock. */
  createdAt: Date;
  confirmedAt: Date;
  issuer: string;
  tenantId: string;
  /** `kid` of the key that signed the receipt; null if the signature was not verified. */
  issuerKeyId: string | null;
  relyingPartyId: string;
  /** Origin of the page on which the user confirmed. */
  origin: string;
  credentialId: string;
  /** COSE_Key, base64url. */
  publicKey: string;
  aaguid: string;
  /** Whether the issuer had verified that AAGUID; null in receipts that do not say it. */
  attestationTrust: AttestationTrust | null;
  /** Whether the authenticator verified the user, by biometrics or PIN. */
  userVerified: boolean;
}

export type ReceiptVerdict =
  | { ok: true; receipt: VerifiedReceipt }
  | { ok: false; code: ReceiptRejection; reason: string };

/**
 * Verifies a receipt: its issuer, and that the named passkey signed exactly this transaction on an accepted origin. Uses
 * no network, database, clock or configuration. Never throws.
 *
 * @param receipt as returned by `transaction/finalize`
 */
export function verifyReceipt(receipt: string, expected: ReceiptExpectations): ReceiptVerdict {
  // Verify the issuer's signature (RFC 7515, 5.2).
  const read = verifyIssuerSignature(receipt, expected.jwks);
  if (!read.ok) return reject(read.reason);
  const { claims, keyId } = read;
  const { credential, response, relying_party: relyingParty } = claims;

  // Verify that the data is canonical, so that the hash covers exactly what is returned (RFC 8785).
  const data = readCanonicalJson(claims.data);
  if (!data) return reject("data_not_canonical");

  // Verify that the ceremony was an authentication (WebAuthn Level 3, 7.2 step 10).
  const clientData = readClientData(response.clientDataJSON);
  if (!clientData) return reject("client_data_malformed");
  if (clientData.type !== "webauthn.get") return reject("wrong_ceremony");

  // Verify that the challenge commits to this transaction and data (step 11).
  if (!isChallengeOf(clientData.challenge, claims.transaction_id, claims.data))
    return reject("challenge_mismatch");

  // Verify that the page was the relying party's and not framed (steps 12 to 14).
  const origins = (expected.origins ?? relyingParty.origins).map(comparable);
  if (!origins.includes(comparable(clientData.origin))) return reject("origin_mismatch");
  if (clientData.crossOrigin === true || clientData.topOrigin !== undefined) return reject("framed");

  // Verify relying party and user presence (steps 15 and 16).
  const authenticatorData = Buffer.from(response.authenticatorData, "base64url");
  const stated = readAuthenticatorData(authenticatorData);
  if (!stated) return reject("authenticator_data_malformed");
  const relyingPartyId = expected.relyingPartyId ?? relyingParty.id;
  if (!stated.rpIdHash.equals(sha256(relyingPartyId))) return reject("relying_party_mismatch");
  if (!stated.userPresent) return reject("user_absent");

  // Verify the user handle, if there is one (step 6).
  if (response.userHandle !== undefined && !userHandlesOf(claims.user_id).includes(response.userHandle))
    return reject("user_mismatch");

  // Verify the public key, if one is expected, and the passkey's signature (steps 20 and 21).
  const publicKey = Buffer.from(credential.public_key, "base64url");
  if (expected.publicKey !== undefined && !isSame(expected.publicKey, publicKey))
    return reject("public_key_mismatch");
  const signed = Buffer.concat([
    authenticatorData,
    sha256(Buffer.from(response.clientDataJSON, "base64url")),
  ]);
  const key = importCredentialKey(publicKey, "storage");
  if (!key) return reject("public_key_unusable");
  if (!verifySignature(key, signed, Buffer.from(response.signature, "base64url")))
    return reject("authenticator_signature");

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
      attestationTrust: credential.attestation_trust ?? null,
      userVerified: stated.userVerified,
    },
  };
}

function reject(code: ReceiptRejection): ReceiptVerdict {
  return { ok: false, code, reason: receiptRejections[code] };
}

/** Web origins are compared case-insensitively, app origins exactly. */
function comparable(origin: string): string {
  return /^https?:/i.test(origin) ? origin.toLowerCase() : origin;
}

/** Compares a key in base64url with or without padding. */
function isSame(encoded: string, publicKey: Buffer): boolean {
  return constantTimeEqual(Buffer.from(encoded, "base64url"), publicKey);
}

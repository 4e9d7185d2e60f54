import { z } from "zod";
import { decodeBase64url } from "../lib/base64url.ts";

/**
 * The receipt of a confirmed transaction: a signed statement with everything that its verification needs, so that it can
 * be verified offline years later.
 */

/** `typ` header, which distinguishes receipts from tokens (RFC 8725, 3.11). */
export const RECEIPT_TYPE = "transaction-receipt+jwt";

/** Bytes in canonical base64url. */
const bytes = (maxLength: number) =>
  z
    .string()
    .min(1)
    .max(maxLength)
    .refine((text) => decodeBase64url(text) !== null);

const text = (maxLength: number) => z.string().min(1).max(maxLength);

/** The payload. Unknown members are ignored, for later versions. */
export const receiptClaims = z.object({
  /** Address of the tenant's passkey server; its keys are at `/.well-known/receipt-keys.json` under it. */
  iss: text(2048),
  /** When the transaction was confirmed, in seconds since 1970. */
  iat: z.int().nonnegative(),
  tenant_id: text(64),
  transaction_id: text(512),
  user_id: text(1024),
  /** The confirmed data: an object in the canonical form of RFC 8785. */
  data: text(64 * 1024),
  /** When the transaction was initialized and confirmed (RFC 3339). */
  created_at: z.iso.datetime(),
  confirmed_at: z.iso.datetime(),
  relying_party: z.object({
    id: text(255),
    /** Accepted origins at the time of confirmation. */
    origins: z.array(text(2048)).min(1).max(256),
  }),
  credential: z.object({
    id: bytes(1364),
    /** COSE_Key (RFC 9052, 7), base64url. */
    public_key: bytes(4096),
    /** In UUID notation, though not every AAGUID is a valid UUID. */
    aaguid: z.guid(),
    attestation_type: text(64),
    /** Whether the AAGUID was proved at registration; absent in receipts of older versions. */
    attestation_trust: z.enum(["verified", "unverified", "none"]).optional(),
    created_at: z.iso.datetime(),
  }),
  /** The authenticator's response (WebAuthn Level 3, 5.1), base64url. */
  response: z.object({
    clientDataJSON: bytes(8192),
    authenticatorData: bytes(8192),
    signature: bytes(2048),
    userHandle: bytes(88).optional(),
  }),
});

export type ReceiptClaims = z.output<typeof receiptClaims>;

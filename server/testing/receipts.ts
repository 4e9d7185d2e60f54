import { createHash, generateKeyPairSync, type JsonWebKey, type KeyObject, randomBytes } from "node:crypto";
import { CompactSign } from "jose";
import { type Authenticator, type GetCall, softwareAuthenticator } from "./webauthn-authenticator.ts";

/** Issues valid and invalid receipts of transactions. Shares no code with the verifier. */
export interface ReceiptIssuer {
  jwks: { keys: (JsonWebKey & { kid: string })[] };
  /** COSE_Key of the passkey, base64url. */
  publicKey: string;
  authenticator: Authenticator;
  /** Issues a receipt; `instead` overrides valid values. */
  issue(instead?: ReceiptOverrides): Promise<string>;
}

export interface ReceiptOverrides {
  /** Overrides of the claims. */
  claims?: Record<string, unknown>;
  header?: Record<string, unknown>;
  /** Overrides of the signed challenge: the transaction's id and data, and the 32 random bytes before their hash. */
  signed?: { id?: string; data?: string; random?: Buffer };
  call?: Partial<GetCall>;
  key?: KeyObject;
}

/** The transaction of the receipts. */
export const transaction = {
  id: "order-2041",
  userId: "ada",
  data: '{"amount":"149.90","currency":"EUR","payee":"Bergmann & Söhne"}',
  rpId: "shop.example",
  origin: "https://shop.example",
};

/** @param options signing key and confirming authenticator; default: new ones */
export function receiptIssuer(
  options: { key?: KeyObject; algorithm?: string; kid?: string; authenticator?: Authenticator } = {},
): ReceiptIssuer {
  const key = options.key ?? generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;
  const { algorithm: alg = "ES256", kid = "key-1", authenticator = softwareAuthenticator() } = options;
  const { d: _, ...publicJwk } = key.export({ format: "jwk" });
  const { id, userId, data, rpId, origin } = transaction;
  if (authenticator.credentials.length === 0) {
    const user = { id: Buffer.from(userId).toString("base64url"), name: userId, displayName: userId };
    const pubKeyCredParams = [-7, -8, -257].map((algorithm) => ({ type: "public-key", alg: algorithm }));
    const challenge = randomBytes(32).toString("base64url");
    authenticator.create(
      {
        rp: { id: rpId, name: rpId },
        user,
        challenge,
        pubKeyCredParams,
        authenticatorSelection: { residentKey: "required" },
      },
      { origin },
    );
  }
  const [credential] = authenticator.credentials;
  if (!credential) throw new Error("the authenticator has no passkey");
  const publicKey = credential.key.cose.toString("base64url");

  return {
    jwks: { keys: [{ ...publicJwk, kid, alg, use: "sig" }] },
    publicKey,
    authenticator,
    async issue({ claims, header, signed, call, key: signingKey = key } = {}) {
      const hash = createHash("sha256").update((signed?.id ?? id) + (signed?.data ?? data));
      const challenge = Buffer.concat([signed?.random ?? randomBytes(32), hash.digest()]).toString(
        "base64url",
      );
      const { response } = authenticator.get({ challenge, rpId, allowCredentials: [] }, { origin, ...call });
      const { clientDataJSON, authenticatorData, signature, userHandle } = response;
      const payload = {
        iss: "https://login.example/passkeys/00000000-0000-4000-8000-000000000001",
        iat: 1_795_608_030,
        tenant_id: "00000000-0000-4000-8000-000000000001",
        transaction_id: id,
        user_id: userId,
        data,
        created_at: "2026-11-25T09:20:00.000Z",
        confirmed_at: "2026-11-25T09:20:30.000Z",
        relying_party: { id: rpId, origins: [origin] },
        credential: {
          id: credential.id.toString("base64url"),
          public_key: publicKey,
          aaguid: "00000000-0000-0000-0000-000000000000",
          attestation_type: "none",
          created_at: "2026-03-01T08:00:00.000Z",
        },
        response: { clientDataJSON, authenticatorData, signature, ...(userHandle ? { userHandle } : {}) },
        ...claims,
      };
      return new CompactSign(Buffer.from(JSON.stringify(payload)))
        .setProtectedHeader({ alg, kid, typ: "transaction-receipt+jwt", ...header })
        .sign(signingKey);
    },
  };
}

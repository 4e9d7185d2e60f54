import { ownOrigin } from "../config/own-hosts.ts";
import type { Tenant } from "../config/tenant.ts";
import type { RequestContext } from "../context/context.ts";
import type { Signing } from "../keys/tenant-signing-keys.ts";
import type { AuthenticationResponse } from "../webauthn/responses.ts";
import type { OwnedCredential } from "./credential-records.ts";
import { RECEIPT_TYPE, type ReceiptClaims } from "./receipt.ts";
import { userHandlesOf } from "./user-handles.ts";

/** Returns the URL of a tenant's passkey server. Its keys are at `/.well-known/receipt-keys.json` under it. */
function issuerOf({ id, config }: Tenant): string {
  return `${ownOrigin(config)}/passkeys/${id}`;
}

/**
 * Signs the receipt of a verified transaction with the tenant's passkey key. Of the user handle, which the authenticator
 * does not sign, it holds one that is made of `user_id` alone: a random one tells the reader nothing, and former readers
 * reject it.
 */
export function signReceipt(
  { runtime, tenant, now }: RequestContext<Signing>,
  about: {
    credential: OwnedCredential;
    transaction: { identifier: string; data: string; createdAt: Date };
    answer: AuthenticationResponse;
  },
): Promise<string> {
  const { credential, transaction, answer } = about;
  const { id, origins } = tenant.config.passkey_server.relying_party;
  const { userId } = credential.owner;
  const { clientDataJSON, authenticatorData, signature } = answer.response;
  const userHandle = canonicalBase64url(answer.response.userHandle ?? "");
  const claims: ReceiptClaims = {
    iss: issuerOf(tenant),
    iat: Math.floor(now.getTime() / 1000),
    tenant_id: tenant.id,
    transaction_id: transaction.identifier,
    user_id: userId,
    data: transaction.data,
    created_at: transaction.createdAt.toISOString(),
    confirmed_at: now.toISOString(),
    relying_party: { id, origins: [...origins] },
    credential: {
      id: credential.id,
      public_key: credential.publicKey.toString("base64url"),
      aaguid: credential.aaguid,
      attestation_type: credential.attestationType,
      attestation_trust: credential.attestationTrust,
      created_at: credential.createdAt.toISOString(),
    },
    response: {
      clientDataJSON: canonicalBase64url(clientDataJSON),
      authenticatorData: canonicalBase64url(authenticatorData),
      signature: canonicalBase64url(signature),
      ...(userHandlesOf(userId).includes(userHandle) ? { userHandle } : {}),
    },
  };
  return runtime.signingKeys.of(tenant, "passkeys").sign(claims, { typ: RECEIPT_TYPE });
}

/** Re-encodes base64url, because browsers may leave unused bits set. */
function canonicalBase64url(base64url: string): string {
  return Buffer.from(base64url, "base64url").toString("base64url");
}

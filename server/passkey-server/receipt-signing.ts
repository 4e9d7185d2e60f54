import { ownOrigin } from "../config/own-hosts.ts";
import type { Tenant } from "../config/tenant.ts";
import type { RequestContext } from "../context/context.ts";
import type { Signing } from "../keys/tenant-signing-keys.ts";
import type { AuthenticationResponse } from "../webauthn/responses.ts";
import type { OwnedCredential } from "./credential-records.ts";
import { claimsOf, RECEIPT_TYPE } from "./receipt.ts";

/** Returns the URL of a tenant's passkey server. Its keys are at `/.well-known/receipt-keys.json` under it. */
function issuerOf({ id, config }: Tenant): string {
  return `${ownOrigin(config)}/passkeys/${id}`;
}

/**
 * Signs the receipt of a verified transaction with the tenant's passkey key.
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
  const { relying_party: relyingParty } = tenant.config.passkey_server;
  const claims = claimsOf({
    issuer: issuerOf(tenant),
    tenantId: tenant.id,
    userId: credential.owner.userId,
    relyingParty,
    transaction,
    confirmedAt: now,
    credential,
    response: answer.response,
  });
  return runtime.signingKeys.of(tenant, "passkeys").sign(claims, { typ: RECEIPT_TYPE });
}

import { and, eq } from "drizzle-orm";
import { schema } from "#db/client";
import { ownOrigin } from "../config/own-hosts.ts";
import type { RequestContext } from "../runtime.ts";
import type { Tenant } from "../tenants/tenant.ts";
import type { AttestationTrust } from "../webauthn/attestation-trust.ts";
import type { AuthenticationResponse } from "../webauthn/responses.ts";
import { claimsOf, RECEIPT_TYPE } from "./receipt.ts";

const { passkeyCredentials: credentials } = schema;

/** Returns the URL of a tenant's passkey server. Its keys are at `/.well-known/receipt-keys.json` under it. */
export function issuerOf({ id, config }: Tenant): string {
  return `${ownOrigin(config)}/passkeys/${id}`;
}

/**
 * Signs the receipt of a verified transaction with the tenant's passkey key.
 *
 * @param about `userId`: the application's id of the user
 * @returns null if the credential was removed concurrently
 */
export async function signReceipt(
  { runtime, tenant, now }: RequestContext,
  about: {
    userId: string;
    credentialId: string;
    transaction: { identifier: string; data: string; createdAt: Date };
    answer: AuthenticationResponse;
  },
): Promise<string | null> {
  const { userId, credentialId, transaction, answer } = about;
  const [credential] = await runtime.database.read
    .select()
    .from(credentials)
    .where(and(eq(credentials.tenantId, tenant.id), eq(credentials.id, credentialId)));
  if (!credential) return null;
  const { relying_party: relyingParty } = tenant.config.passkey_server;
  const claims = claimsOf({
    issuer: issuerOf(tenant),
    tenantId: tenant.id,
    userId,
    relyingParty,
    transaction,
    confirmedAt: now,
    credential: { ...credential, attestationTrust: credential.attestationTrust as AttestationTrust },
    response: answer.response,
  });
  return runtime.signingKeys.of(tenant, "passkeys").sign(claims, { typ: RECEIPT_TYPE });
}

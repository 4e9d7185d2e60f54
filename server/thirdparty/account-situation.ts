import type { ReadOnly } from "#db/client";
import type { Config } from "../config/schema.ts";
import type { Tenant } from "../config/tenant.ts";
import { isEmailVerified } from "../identity/email/emails.ts";
import type { UserFacts } from "../identity/facts.ts";
import type { AccountSituation } from "./account-decision.ts";
import { findIdentityOwner } from "./identities.ts";
import type { ProviderFacts } from "./provider-facts.ts";
import { findProvider } from "./providers/index.ts";

/**
 * Reads what decides which account an identity signs in to.
 *
 * @param known the account with the address that the provider states
 * @param connectToUserId the signed-in account that connects the identity; null at a sign-in
 */
export async function accountSituation(
  { db, tenant: { id, config } }: { db: ReadOnly; tenant: Tenant },
  facts: ProviderFacts,
  { known, connectToUserId }: { known: UserFacts | null; connectToUserId: string | null },
): Promise<AccountSituation> {
  return {
    facts,
    owner: await findIdentityOwner(db, id, facts),
    accountWithSameEmail: known && {
      userId: known.userId,
      verified: await isVerified(db, id, known, facts.email),
    },
    connectToUserId,
    // The operator assigns email domains to SAML providers, so they are trusted for linking.
    allowLinking: findProvider(config, facts.provider)?.allowLinking ?? facts.provider.startsWith("saml:"),
    allowSignup: config.account.allow_signup,
  };
}

/** Whether an account has verified its address. The facts say it of the primary one. */
async function isVerified(
  db: ReadOnly,
  tenantId: string,
  { userId, email, emailVerified }: UserFacts,
  address: string | null,
): Promise<boolean> {
  if (address === null) return false;
  if (address === email) return emailVerified;
  return isEmailVerified(db, tenantId, { userId, address });
}

/** The address of an account that a provider's facts create, and whether a code has to verify it before it is written. */
export function signUpAddress(
  config: Config,
  { email, emailVerified, skipEmailVerification, provider }: ProviderFacts,
): { address: string | null; needsCode: boolean } {
  // An address from a SAML provider is verified by a code, unless the operator trusts it.
  const verifies = config.email.require_verification || provider.startsWith("saml:");
  return {
    address: config.email.enabled ? email : null,
    needsCode: !emailVerified && !skipEmailVerification && verifies,
  };
}

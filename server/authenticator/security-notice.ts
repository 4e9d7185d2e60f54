import type { Databases } from "#db/client";
import type { ClientContext } from "../context/context.ts";
import { factsById } from "../identity/facts.ts";
import type { MailJob } from "../mail/mail-job.ts";
import { accountLanguage } from "../mail/mail-language.ts";
import { securityNotice } from "../mail/security-notices.ts";
import { canBeSecondFactor } from "./second-factor.ts";

/**
 * Creates the mail to the account owner that an authenticator has become a second factor, or no longer is (NIST SP
 * 800-63B-4, 4.1.2.1). An application makes this change with its API key, without a session of the user.
 *
 * @param userId the application's user id, which refers to an account if it is an account's id
 * @returns no job if authenticators are not second factors, or there is no address to write to
 */
export async function authenticatorNotice(
  { runtime, tenant, client }: Pick<ClientContext<Databases>, "runtime" | "tenant" | "client">,
  kind: "mfa_create" | "mfa_delete",
  userId: string,
): Promise<MailJob[]> {
  if (!canBeSecondFactor(tenant.config, userId)) return [];
  const account = await factsById(runtime.database.read, tenant.id, userId);
  // The request is the application's, so its language is not the owner's.
  const owner = { ...client, language: accountLanguage(account) };
  return securityNotice({ tenant, client: owner }, kind, account?.email ?? null, { factor: "authenticator" });
}

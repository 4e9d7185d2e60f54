import { securityNotice } from "../account/security-notices.ts";
import { factsById } from "../identity/users.ts";
import type { ClientContext, Job } from "../runtime.ts";
import { mayBeFactor } from "./second-factor.ts";

/**
 * The mail that tells the owner of an account that a phone has become its second factor, or is no longer (NIST SP
 * 800-63B-4, 4.1.2.1): an application did so by its key, and nobody had to be signed in.
 *
 * @param userId as the application calls its user: an account is meant where it is the id of one
 * @returns no job where phones are no second factors, or there is nobody to write to
 */
export async function phoneNotice(
  { runtime, tenant, client }: Pick<ClientContext, "runtime" | "tenant" | "client">,
  kind: "mfa_create" | "mfa_delete",
  userId: string,
): Promise<Job[]> {
  if (!mayBeFactor(tenant.config, userId)) return [];
  const account = await factsById(runtime.database.read, tenant.id, userId);
  return securityNotice({ tenant, client }, kind, account?.email ?? null, { factor: "authenticator" });
}

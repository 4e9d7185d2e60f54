import { type Databases, schema, type Transaction } from "#db/client";
import type { Tenant } from "../../config/tenant.ts";
import type { TenantContext } from "../../context/context.ts";
import { sha256 } from "../../lib/sha256.ts";
import { CLOCK_SKEW_MS } from "./assertion.ts";

const { seenAssertions } = schema;

/** A message that is accepted once, identified by its issuer and its id. */
export interface SeenMessage {
  issuer: string;
  id: string;
  expiresAt: Date;
}

/**
 * Registers an assertion in the replay cache until it expires, and commits (SAML Profiles 2.0, 4.1.4.5; OWASP ASVS
 * 6.8.3). All servers share the cache.
 *
 * @returns false if it was used before
 */
export function registerAssertion(
  { runtime, tenant }: TenantContext<Databases>,
  assertion: SeenMessage,
): Promise<boolean> {
  return runtime.database.write.transaction((tx) => registerMessage(tx, tenant, assertion));
}

/** Registers a message in a transaction, with what it causes. @returns false if it was used before */
export async function registerMessage(
  tx: Transaction,
  tenant: Pick<Tenant, "id">,
  { issuer, id, expiresAt }: SeenMessage,
): Promise<boolean> {
  const made = await tx
    .insert(seenAssertions)
    .values({
      tenantId: tenant.id,
      // The length prefix keeps different pairs of issuer and id distinct.
      idHash: sha256(`${issuer.length} ${issuer} ${id}`),
      expiresAt: new Date(expiresAt.getTime() + CLOCK_SKEW_MS),
    })
    .onConflictDoNothing()
    .returning({ idHash: seenAssertions.idHash });
  return made.length > 0;
}

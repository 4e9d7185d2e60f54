import { type Databases, schema } from "#db/client";
import type { TenantContext } from "../../context/context.ts";
import { sha256 } from "../../lib/sha256.ts";
import { CLOCK_SKEW_MS } from "./assertion.ts";

const { seenAssertions } = schema;

/**
 * Registers an assertion in the replay cache until it expires, and commits (SAML Profiles 2.0, 4.1.4.5; OWASP ASVS
 * 6.8.3). All servers share the cache.
 *
 * @param assertion identified by `issuer` and `id`
 * @returns false if it was used before
 */
export async function registerAssertion(
  { runtime, tenant }: TenantContext<Databases>,
  { issuer, id, expiresAt }: { issuer: string; id: string; expiresAt: Date },
): Promise<boolean> {
  const made = await runtime.database.write
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

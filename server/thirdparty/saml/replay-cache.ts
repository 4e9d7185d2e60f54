import { schema } from "#db/client";
import { sha256 } from "../../lib/sha256.ts";
import type { TenantContext } from "../../runtime.ts";
import { CLOCK_SKEW_MS } from "./assertion.ts";

const { seenAssertions } = schema;

/**
 * Remembers an assertion for as long as it could be shown again, and commits (SAML Profiles 2.0, 4.1.4.5; OWASP ASVS
 * 6.8.3).
 *
 * @param assertion `issuer` and `id` name it; `expiresAt`: when nobody would take it any more
 * @returns false when it was shown before, by whomever and to whichever server
 */
export async function registerAssertion(
  { runtime, tenant }: TenantContext,
  { issuer, id, expiresAt }: { issuer: string; id: string; expiresAt: Date },
): Promise<boolean> {
  const made = await runtime.database.write
    .insert(seenAssertions)
    .values({
      tenantId: tenant.id,
      // A length in front, so that no issuer and id run into another pair.
      idHash: sha256(`${issuer.length} ${issuer} ${id}`),
      expiresAt: new Date(expiresAt.getTime() + CLOCK_SKEW_MS),
    })
    .onConflictDoNothing()
    .returning({ idHash: seenAssertions.idHash });
  return made.length > 0;
}

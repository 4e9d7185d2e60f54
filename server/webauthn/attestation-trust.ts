import type { X509Certificate } from "node:crypto";
import { certificatesOf, leadsToRoot } from "./formats/certificates.ts";
import type { StatementFormat } from "./formats/index.ts";

/**
 * How far the make of an authenticator is proved. `verified`: a trusted root vouches for this model. `unverified`: the
 * statement is consistent, but any client could have made it, so the AAGUID is only claimed. `none`: there is no
 * statement.
 */
export type AttestationTrust = "verified" | "unverified" | "none";

/** Finds the roots that may vouch for a model. */
export interface TrustedModels {
  /**
   * @param aaguid in UUID notation; all zeros for models that have none
   * @param certificate of the authenticator, which names a model without an AAGUID
   * @returns empty for an unknown model
   */
  rootsOf(aaguid: string, certificate: X509Certificate, now: Date): readonly X509Certificate[];
}

/** Judges a statement that has been verified to be consistent (WebAuthn Level 3 section 7.1 steps 23 and 24). */
export function attestationTrust(
  { format, x5c, aaguid }: { format: StatementFormat; x5c: unknown; aaguid: string },
  models: readonly TrustedModels[],
  now: Date,
): AttestationTrust {
  if (format === "none") return "none";
  // Apple certifies the whole authenticator data, and this format is accepted under Apple's root only.
  if (format === "apple") return "verified";
  const chain = certificateChain(x5c);
  const [certificate] = chain;
  if (!certificate) return "unverified";
  const roots = models
    .map((known) => known.rootsOf(aaguid, certificate, now))
    .find(({ length }) => length > 0);
  return roots && leadsToRoot(chain, roots, now) ? "verified" : "unverified";
}

/** Empty for self attestation, and for certificates that cannot be read. */
function certificateChain(x5c: unknown): X509Certificate[] {
  try {
    return certificatesOf(x5c);
  } catch {
    return [];
  }
}

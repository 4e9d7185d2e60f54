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
  /** Whether the model keeps its keys in hardware, as far as that is known of it; with the parameters of `rootsOf`. */
  keepsKeysInHardware?(aaguid: string, certificate: X509Certificate): boolean;
}

/** What an attestation proves of an authenticator. */
export interface Attested {
  trust: AttestationTrust;
  /** Whether its model keeps its keys in hardware. Only a trusted root says so. */
  inHardware: boolean;
}

/** Judges a statement that has been verified to be consistent (WebAuthn Level 3 section 7.1 steps 23 and 24). */
export function attestationTrust(
  { format, x5c, aaguid }: { format: StatementFormat; x5c: unknown; aaguid: string },
  models: readonly TrustedModels[],
  now: Date,
): Attested {
  if (format === "none") return { trust: "none", inHardware: false };
  // Apple certifies the whole authenticator data, and this format is accepted under Apple's root only. Such a key is in the
  // Secure Enclave.
  if (format === "apple") return { trust: "verified", inHardware: true };
  const chain = certificateChain(x5c);
  const [certificate] = chain;
  if (!certificate) return unverified;
  const [known] = models.flatMap((model) => {
    const roots = model.rootsOf(aaguid, certificate, now);
    return roots.length > 0 ? [{ model, roots }] : [];
  });
  if (!known || !leadsToRoot(chain, known.roots, now)) return unverified;
  // An Android model has keys in software too, and its statement says of each where it is; that is not read.
  const inHardware =
    format !== "android-key" && known.model.keepsKeysInHardware?.(aaguid, certificate) === true;
  return { trust: "verified", inHardware };
}

const unverified: Attested = { trust: "unverified", inHardware: false };

/** Empty for self attestation, and for certificates that cannot be read. */
function certificateChain(x5c: unknown): X509Certificate[] {
  try {
    return certificatesOf(x5c);
  } catch {
    return [];
  }
}

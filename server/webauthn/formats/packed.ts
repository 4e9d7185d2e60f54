import { hasCanonicalEncoding } from "../signature-encoding.ts";
import { certificatesOf, leadsToRoot } from "./certificates.ts";
import type { StatementVerifier } from "./statement.ts";

/**
 * The rest of Packed Attestation (WebAuthn Level 3 section 8.2) after the library has verified the signature: the
 * signature has its canonical encoding, self attestation uses the algorithm of the key, and, if roots are configured for
 * this format, the certificates lead to one of them.
 */
export const verifyPacked: StatementVerifier = ({ members, key, roots, now }) => {
  if (!hasCanonicalEncoding(members.get("alg"), members.get("sig"))) return false;
  if (!members.has("x5c")) return members.get("alg") === key.algorithm;
  return roots.length === 0 || leadsToRoot(certificatesOf(members.get("x5c")), roots, now);
};

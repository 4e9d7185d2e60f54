import { sha256 } from "../../lib/sha256.ts";
import { certificatesOf, extensionOf, leadsToRoot } from "./certificates.ts";
import type { StatementVerifier } from "./statement.ts";

/** 1.2.840.113635.100.8.2 */
const nonceExtension = Buffer.from("2a864886f763640802", "hex");

/** DER prefix of the nonce: a sequence, the tag 1, an octet string of 32 bytes. */
const nonceWrapping = Buffer.from("3024a1220420", "hex");

/** Apple Anonymous Attestation, WebAuthn Level 3 section 8.8. */
export const verifyApple: StatementVerifier = (statement) => {
  const { members, authenticatorData, clientDataHash, key, roots, now } = statement;
  const chain = certificatesOf(members.get("x5c"));
  const [certificate] = chain;
  if (!certificate) return false;

  // Ensure the certificate was issued for this ceremony (steps 2 to 4).
  const nonce = sha256(Buffer.concat([authenticatorData, clientDataHash]));
  const stated = extensionOf(certificate, nonceExtension);
  if (!stated?.equals(Buffer.concat([nonceWrapping, nonce]))) return false;

  // Ensure it was issued for this key (step 5).
  if (!key.key.equals(certificate.publicKey)) return false;

  // Ensure it was issued by Apple (step 6).
  return leadsToRoot(chain, roots, now);
};

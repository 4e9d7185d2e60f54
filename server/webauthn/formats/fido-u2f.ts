import { hasCanonicalEncoding } from "../signature-encoding.ts";
import { certificatesOf } from "./certificates.ts";
import type { StatementVerifier } from "./statement.ts";

/**
 * The rest of FIDO U2F Attestation (WebAuthn Level 3 section 8.6) after the library has verified the signature: the
 * signature is ECDSA in DER, there is one certificate, and its key and the credential's are on P-256 (steps 2 and 4).
 */
export const verifyFidoU2f: StatementVerifier = ({ members, key }) => {
  const [certificate, ...others] = certificatesOf(members.get("x5c"));
  const curve = certificate?.publicKey.asymmetricKeyDetails?.namedCurve;
  const isP256 = curve === "prime256v1" && key.algorithm === -7;
  return others.length === 0 && isP256 && hasCanonicalEncoding(-7, members.get("sig"));
};

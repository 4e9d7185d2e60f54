import { algorithmOf } from "../cose-key.ts";
import { hasCanonicalEncoding } from "../signature-encoding.ts";
import { certificatesOf } from "./certificates.ts";
import type { StatementVerifier } from "./statement.ts";

/**
 * What is left of FIDO U2F Attestation (WebAuthn Level 3 section 8.6) when its signature was found right: it is ECDSA in
 * DER, there is one certificate, and both its key and the credential's are points of P-256 (steps 2 and 4).
 */
export const verifyFidoU2f: StatementVerifier = ({ members, publicKey }) => {
  const [certificate, ...others] = certificatesOf(members.get("x5c"));
  const curve = certificate?.publicKey.asymmetricKeyDetails?.namedCurve;
  const isP256 = curve === "prime256v1" && algorithmOf(publicKey) === -7;
  return others.length === 0 && isP256 && hasCanonicalEncoding(-7, members.get("sig"));
};

import { type KeyObject, X509Certificate } from "node:crypto";
import { leadsToRoot } from "../../webauthn/formats/certificates.ts";
import type { Algorithm } from "./algorithms.ts";
import { isOfKind } from "./key-kinds.ts";
import type { Attestation } from "./registration-assertion.ts";
import { verifies } from "./verify-signature.ts";

/** Most certificates that are sent along. */
const longestChain = 6;

/** Whether a statement was signed by the very key that it is about. */
export function holdsBySurrogate(
  { signature }: Attestation & { type: "surrogate" },
  signed: Buffer,
  by: { algorithm: Algorithm; key: KeyObject; strict: boolean },
): boolean {
  return verifies(by.algorithm, by.key, signed, signature, by.strict);
}

/**
 * Whether a statement was signed by the key of the first certificate, and that certificate is to be trusted: it is
 * one of the roots itself, or it leads to one.
 */
export function holdsByCertificate(
  { signature, certificates }: Attestation & { type: "full" },
  signed: Buffer,
  by: { algorithm: Algorithm; roots: readonly string[]; now: Date; strict: boolean },
): boolean {
  try {
    const chain = certificatesOf(certificates);
    const key = chain[0]?.publicKey;
    if (!key || !isOfKind(key, by.algorithm.key)) return false;
    if (!verifies(by.algorithm, key, signed, signature, by.strict)) return false;
    const roots = by.roots.map((pem) => new X509Certificate(pem));
    return isTrusted(chain, roots, by.now);
  } catch {
    // Certificates that cannot be read vouch for nothing.
    return false;
  }
}

/** @throws Error for too many, and for what is no certificate in DER, or more than one */
function certificatesOf(encoded: readonly Buffer[]): X509Certificate[] {
  if (encoded.length > longestChain) throw new Error("too many certificates");
  return encoded.map((der) => {
    const certificate = new X509Certificate(der);
    if (!certificate.raw.equals(der)) throw new Error("not one certificate in DER");
    return certificate;
  });
}

function isTrusted(chain: readonly X509Certificate[], roots: readonly X509Certificate[], now: Date): boolean {
  const [leaf] = chain;
  if (!leaf || leaf.validFromDate > now || leaf.validToDate < now) return false;
  if (roots.some(({ raw }) => raw.equals(leaf.raw))) return true;
  // Who may certify others does not vouch for keys; nor does another certificate of a key that is listed.
  if (leaf.ca || roots.some(({ publicKey }) => publicKey.equals(leaf.publicKey))) return false;
  return leadsToRoot(chain, roots, now);
}

import { X509Certificate } from "node:crypto";
import { type DerItem, derItem } from "../../lib/der.ts";
import { extensionOf, leadsToRoot } from "../../webauthn/formats/certificates.ts";
import type { Algorithm } from "./algorithms.ts";
import type { FullAttestation } from "./assertions.ts";
import { isOfKind } from "./key-kinds.ts";
import { verifySignature } from "./verify-signature.ts";

const MAX_CERTIFICATES = 6;

/** 1.3.6.1.4.1.45724.1.1.1, id-fido-gen-ce-aaid */
const aaidExtension = Buffer.from("2b0601040182e51c010101", "hex");

/** Universal tags of the types in which the AAID is found: octet string, UTF-8, printable and IA5 string. */
const textTags = [4, 12, 19, 22];

/**
 * Whether the key of the first certificate has signed the registration data, and that certificate is trusted: it is a
 * configured root itself, or chains to one. Certificates that name a model name this one, because a vendor may certify
 * several models under one root.
 *
 * @param by.aaid the asserted model, in upper case
 */
export function verifyFullAttestation(
  { signature, certificates }: FullAttestation,
  signed: Buffer,
  by: { aaid: string; algorithm: Algorithm; roots: readonly string[]; now: Date; strict: boolean },
): boolean {
  try {
    const chain = certificatesOf(certificates);
    const key = chain[0]?.publicKey;
    if (!key || !isOfKind(key, by.algorithm.key)) return false;
    if (!verifySignature(by.algorithm, key, signed, signature, by.strict)) return false;
    if (!chain.every((certificate) => mayAttest(certificate, by.aaid))) return false;
    const roots = by.roots.map((pem) => new X509Certificate(pem));
    return isTrusted(chain, roots, by.now);
  } catch {
    // A malformed certificate verifies nothing.
    return false;
  }
}

/** @throws Error for too many certificates, and unless each is exactly one certificate in DER */
function certificatesOf(encoded: readonly Buffer[]): X509Certificate[] {
  if (encoded.length > MAX_CERTIFICATES) throw new Error("too many certificates");
  return encoded.map((der) => {
    const certificate = new X509Certificate(der);
    if (!certificate.raw.equals(der)) throw new Error("not one certificate in DER");
    return certificate;
  });
}

/** @throws DerError if the certificate names several models, or its extension cannot be read */
function mayAttest(certificate: X509Certificate, aaid: string): boolean {
  const extension = extensionOf(certificate, aaidExtension);
  return extension === null || textOf(derItem(extension))?.toUpperCase() === aaid;
}

function textOf({ tagClass, tag, content }: DerItem): string | null {
  return tagClass === "universal" && textTags.includes(tag) ? content.toString("latin1") : null;
}

function isTrusted(chain: readonly X509Certificate[], roots: readonly X509Certificate[], now: Date): boolean {
  const [leaf] = chain;
  if (!leaf || leaf.validFromDate > now || leaf.validToDate < now) return false;
  if (roots.some(({ raw }) => raw.equals(leaf.raw))) return true;
  // An authority does not attest keys itself, and a configured key is trusted only in its configured certificate.
  if (leaf.ca || roots.some(({ publicKey }) => publicKey.equals(leaf.publicKey))) return false;
  return leadsToRoot(chain, roots, now);
}

import { type KeyObject, X509Certificate } from "node:crypto";
import { DerError, derItem, derItems } from "../../lib/der.ts";
import { hasNoWeakEd25519Point } from "../../lib/edwards25519.ts";

/** Chains of Android have four or five certificates. */
const MAX_CHAIN_LENGTH = 6;

/**
 * The member `x5c` of a statement: the credential's certificate first, each of the others certifying the one before.
 *
 * @throws Error unless there are one to six certificates
 */
export function certificatesOf(x5c: unknown): X509Certificate[] {
  if (!Array.isArray(x5c) || x5c.length < 1 || x5c.length > MAX_CHAIN_LENGTH) throw new Error("no x5c");
  return x5c.map((bytes) => {
    if (!(bytes instanceof Uint8Array)) throw new Error("x5c contains a value that is not a certificate");
    return new X509Certificate(bytes);
  });
}

/**
 * Whether each certificate is issued by the next, and the last by a trusted root (RFC 5280 section 6.1): checks names,
 * signatures, validity periods, that issuers are certificate authorities, and that all keys are acceptable. The validity
 * period of a root is ignored.
 *
 * Revocation is not checked: the address of the revocation list is in the certificate, which the client supplies.
 */
export function leadsToRoot(
  [certificate, ...issuers]: readonly X509Certificate[],
  roots: readonly X509Certificate[],
  now: Date,
): boolean {
  const key = certificate && keyOf(certificate);
  if (!key) return false;
  if (roots.some((root) => root.publicKey.equals(key))) return true;
  if (certificate.validFromDate > now || certificate.validToDate < now) return false;
  const [issuer] = issuers;
  if (!issuer) return roots.some((root) => isIssuerOf(root, certificate));
  return issuer.ca && isIssuerOf(issuer, certificate) && leadsToRoot(issuers, roots, now);
}

function isIssuerOf(issuer: X509Certificate, certificate: X509Certificate): boolean {
  const key = keyOf(issuer);
  return key !== null && certificate.checkIssued(issuer) && certificate.verify(key);
}

/** The key of a certificate; null if its algorithm is unknown, or signatures under it can be forged. */
function keyOf(certificate: X509Certificate): KeyObject | null {
  try {
    const { publicKey } = certificate;
    return hasNoWeakEd25519Point(publicKey) ? publicKey : null;
  } catch {
    return null;
  }
}

/**
 * The value of an extension of a certificate (RFC 5280 section 4.1).
 *
 * @param id content of the object identifier's DER
 * @returns null if the certificate has no such extension
 * @throws DerError if it has several
 */
export function extensionOf(certificate: X509Certificate, id: Buffer): Buffer | null {
  const [signed] = derItems(derItem(certificate.raw).content);
  const extensions = derItems(signed?.content ?? Buffer.alloc(0)).find(
    ({ tagClass, tag }) => tagClass === "context" && tag === 3,
  );
  if (!extensions) return null;
  const found = derItems(derItem(extensions.content).content)
    .map(({ content }) => derItems(content))
    .filter(([name]) => name?.content.equals(id));
  if (found.length > 1) throw new DerError("an extension occurs twice");
  // The optional member `critical` comes between name and value.
  return found[0]?.at(-1)?.content ?? null;
}

import { X509Certificate } from "node:crypto";
import { DerError, derItem, derItems } from "./der.ts";

/** Longest chain that is followed; Android's have four or five certificates. */
const longestChain = 6;

/**
 * The member `x5c` of a statement: the credential's certificate first, each of the others certifying the one before.
 *
 * @throws Error for anything but one to six certificates
 */
export function certificatesOf(x5c: unknown): X509Certificate[] {
  if (!Array.isArray(x5c) || x5c.length < 1 || x5c.length > longestChain) throw new Error("no x5c");
  return x5c.map((bytes) => {
    if (!(bytes instanceof Uint8Array)) throw new Error("x5c holds what is no certificate");
    return new X509Certificate(bytes);
  });
}

/**
 * Whether each certificate is certified by the next, and the last by a root that is trusted (RFC 5280 section 6.1):
 * names, signatures, terms, and that who certifies may. A root is a name and a key; its own term does not count.
 *
 * Nobody is asked whether a certificate was revoked: where that is told stands in the certificate, and the
 * certificate came from the client.
 */
export function leadsToRoot(
  [certificate, ...issuers]: readonly X509Certificate[],
  roots: readonly X509Certificate[],
  now: Date,
): boolean {
  if (!certificate) return false;
  if (roots.some((root) => root.publicKey.equals(certificate.publicKey))) return true;
  if (certificate.validFromDate > now || certificate.validToDate < now) return false;
  const [issuer] = issuers;
  if (!issuer) return roots.some((root) => certifies(root, certificate));
  return issuer.ca && certifies(issuer, certificate) && leadsToRoot(issuers, roots, now);
}

function certifies(issuer: X509Certificate, certificate: X509Certificate): boolean {
  return certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);
}

/**
 * The value of an extension of a certificate (RFC 5280 section 4.1).
 *
 * @param id content of the object identifier's DER
 * @returns null when the certificate has no such extension
 * @throws DerError when it has several
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
  if (found.length > 1) throw new DerError("an extension stands twice");
  // Between name and value there may be whether it is critical.
  return found[0]?.at(-1)?.content ?? null;
}

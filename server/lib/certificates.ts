import {
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
  X509Certificate,
} from "node:crypto";
import {
  bitString,
  boolean,
  integer,
  nothing,
  objectId,
  octetString,
  printable,
  sequence,
  setOf,
  tagged,
  time,
  unsigned,
  utf8,
} from "./der-encoding.ts";

/** Makes X.509 certificates (RFC 5280). */

/** A certificate and its key. */
export interface Certificate {
  der: Buffer;
  publicKey: KeyObject;
  /** Absent if the caller has supplied the public key. */
  privateKey?: KeyObject;
  /** Name in DER. */
  subject: Buffer;
}

export interface CertificateDetails {
  /** Attributes of the name: `{ C: "AA", O: "Example" }`. */
  subject: Partial<Record<keyof typeof attributes, string>>;
  /** Absent: self-signed. */
  issuer?: Certificate;
  /** Private key, whose public key is certified. Absent: a new key pair on P-256. */
  key?: KeyObject;
  /** Certifies this public key, whose private key is not known. */
  publicKey?: KeyObject;
  /** At most 20 octets of a positive number. Absent: random. */
  serial?: Uint8Array;
  ca?: boolean;
  notBefore?: Date;
  notAfter?: Date;
  /** X.509 version. Default: 3. */
  version?: number;
  extensions?: readonly Extension[];
}

export interface Extension {
  /** For instance `2.5.29.17`. */
  id: string;
  critical?: boolean;
  value: Uint8Array;
}

const attributes = { C: "2.5.4.6", O: "2.5.4.10", OU: "2.5.4.11", CN: "2.5.4.3" } as const;

const ecdsaWithSha256 = sequence(objectId("1.2.840.10045.4.3.2"));
const sha256WithRsa = sequence(objectId("1.2.840.113549.1.1.11"), nothing());

/**
 * Makes a certificate, signed with SHA-256 by ECDSA or RSASSA-PKCS1-v1_5. With RSA, the same details make the same bytes.
 *
 * @throws Error if neither the issuer nor the certificate has a private key
 */
export function makeCertificate(details: CertificateDetails): Certificate {
  const {
    notBefore = new Date(Date.now() - 86_400_000),
    notAfter = new Date(Date.now() + 86_400_000),
    ca = false,
    version = 3,
    extensions = [],
    issuer,
  } = details;
  const privateKey =
    details.key ??
    (details.publicKey ? undefined : generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey);
  const publicKey = details.publicKey ?? (privateKey && createPublicKey(privateKey));
  const signer = issuer?.privateKey ?? privateKey;
  if (!publicKey || !signer) throw new Error("the certificate needs an issuer with a private key");
  const algorithm = signer.asymmetricKeyType === "rsa" ? sha256WithRsa : ecdsaWithSha256;
  const subject = nameOf(
    Object.entries(details.subject).map(([attribute, value]) => [
      attributes[attribute as keyof typeof attributes],
      value,
    ]),
  );
  const basicConstraints = {
    id: "2.5.29.19",
    critical: true,
    value: sequence(...(ca ? [boolean(true)] : [])),
  };
  const signed = sequence(
    tagged(0, integer(version - 1)),
    unsigned(details.serial ?? randomBytes(9)),
    algorithm,
    issuer?.subject ?? subject,
    sequence(time(notBefore), time(notAfter)),
    subject,
    publicKey.export({ format: "der", type: "spki" }),
    tagged(3, sequence(...[basicConstraints, ...extensions].map(extensionOf))),
  );
  const der = sequence(signed, algorithm, bitString(sign("sha256", signed, signer)));
  return { der, publicKey, subject, ...(privateKey ? { privateKey } : {}) };
}

/** A certificate in PEM (RFC 7468). */
export const pemOf = ({ der }: Pick<Certificate, "der">): string => new X509Certificate(der).toString();

/** Makes a self-signed authority. */
export const makeAuthority = (name = "Example Root", details: Partial<CertificateDetails> = {}) =>
  makeCertificate({ subject: { O: name }, ca: true, ...details });

/** Encodes a name: pairs of object id and value. */
export function nameOf(parts: readonly (readonly [id: string, value: string])[]): Buffer {
  const attribute = ([id, value]: readonly [string, string]) =>
    setOf(sequence(objectId(id), id === attributes.C ? printable(value) : utf8(value)));
  return sequence(...parts.map(attribute));
}

function extensionOf({ id, critical = false, value }: Extension): Buffer {
  return sequence(objectId(id), ...(critical ? [boolean(true)] : []), octetString(value));
}

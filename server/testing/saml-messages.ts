import { type KeyObject, X509Certificate } from "node:crypto";
import { promisify } from "node:util";
import { SignedXml } from "xml-crypto";
import { encrypt } from "xml-encryption";

/** The content of a SAML response, of which tests vary single values. */
export interface Answer {
  responseId: string;
  assertionId: string;
  issuer: string;
  destination: string | null;
  recipient: string | null;
  audience: string | null;
  /** Null for an IdP-initiated response. */
  inResponseTo: string | null;
  issuedAt: Date;
  notBefore: Date | null;
  notOnOrAfter: Date | null;
  authenticatedAt: Date;
  sessionNotOnOrAfter: Date | null;
  status: string;
  nameId: string;
  nameIdFormat: string | null;
  /** How the provider names its session with the user. */
  sessionIndex: string | null;
  attributes: Record<string, string | string[]>;
  /** The signed elements. */
  sign: "assertion" | "response" | "both" | "none";
  /** PEM of the certificate to encrypt the assertion for. */
  encryptFor: string | null;
  cipher: string;
  keyTransport: string;
  /** Digest of OAEP by its short name, and the address of its mask generation function. */
  keyDigest: string;
  keyMask: string | undefined;
  signatureAlgorithm: string;
  digestAlgorithm: string;
  canonicalForm: string;
  transforms: string[];
  /** The signing key and its certificate. */
  key: { privateKey: KeyObject; certificate: string };
  /** Changes the document before it is signed. */
  edit: (xml: string) => string;
  /** Changes the signed document. */
  tamper: (xml: string) => string;
}

/** Writes a response: signed, encrypted and tampered with as configured. */
export async function writeAnswer(answer: Answer): Promise<string> {
  const { sign, encryptFor, edit, tamper } = answer;
  const assertion = assertionXml(answer);
  let xml = edit(responseXml(answer, assertion));
  if (sign === "assertion" || sign === "both") xml = signElement(xml, "Assertion", answer);
  if (encryptFor) {
    const plain = /<saml:Assertion [\s\S]*<\/saml:Assertion>/.exec(xml)?.[0] ?? "";
    xml = xml.replace(
      plain,
      `<saml:EncryptedAssertion>${await encryptXml(plain, answer)}</saml:EncryptedAssertion>`,
    );
  }
  if (sign === "response" || sign === "both") xml = signElement(xml, "Response", answer);
  return tamper(xml);
}

function responseXml(answer: Answer, assertion: string): string {
  const { responseId, issuedAt, destination, inResponseTo, issuer, status } = answer;
  return `<samlp:Response xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" ID="${responseId}" Version="2.0" IssueInstant="${issuedAt.toISOString()}"${attribute("Destination", destination)}${attribute("InResponseTo", inResponseTo)}><saml:Issuer>${issuer}</saml:Issuer><samlp:Status><samlp:StatusCode Value="${status}"/></samlp:Status>${assertion}</samlp:Response>`;
}

function assertionXml(answer: Answer): string {
  const { assertionId, issuedAt, issuer, nameId, nameIdFormat, recipient, inResponseTo, audience } = answer;
  const { notBefore, notOnOrAfter, authenticatedAt, sessionNotOnOrAfter, sessionIndex } = answer;
  const until = attribute("NotOnOrAfter", notOnOrAfter);
  const attributes = Object.entries(answer.attributes).map(([name, values]) => {
    const written = [values].flat().map((value) => `<saml:AttributeValue>${value}</saml:AttributeValue>`);
    return `<saml:Attribute Name="${name}">${written.join("")}</saml:Attribute>`;
  });
  const statement =
    attributes.length > 0 ? `<saml:AttributeStatement>${attributes.join("")}</saml:AttributeStatement>` : "";
  const restriction = audience
    ? `<saml:AudienceRestriction><saml:Audience>${audience}</saml:Audience></saml:AudienceRestriction>`
    : "";
  return `<saml:Assertion xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" ID="${assertionId}" Version="2.0" IssueInstant="${issuedAt.toISOString()}"><saml:Issuer>${issuer}</saml:Issuer><saml:Subject><saml:NameID${attribute("Format", nameIdFormat)}>${nameId}</saml:NameID><saml:SubjectConfirmation Method="urn:oasis:names:tc:SAML:2.0:cm:bearer"><saml:SubjectConfirmationData${until}${attribute("Recipient", recipient)}${attribute("InResponseTo", inResponseTo)}/></saml:SubjectConfirmation></saml:Subject><saml:Conditions${attribute("NotBefore", notBefore)}${until}>${restriction}</saml:Conditions><saml:AuthnStatement AuthnInstant="${authenticatedAt.toISOString()}"${attribute("SessionNotOnOrAfter", sessionNotOnOrAfter)}${attribute("SessionIndex", sessionIndex)}><saml:AuthnContext><saml:AuthnContextClassRef>urn:oasis:names:tc:SAML:2.0:ac:classes:Password</saml:AuthnContextClassRef></saml:AuthnContext></saml:AuthnStatement>${statement}</saml:Assertion>`;
}

function attribute(name: string, value: string | Date | null): string {
  if (value === null) return "";
  return ` ${name}="${value instanceof Date ? value.toISOString() : value}"`;
}

/** Signs the first element of a name and inserts the signature after its issuer. */
function signElement(
  xml: string,
  name: "Assertion" | "Response",
  {
    key,
    signatureAlgorithm,
    digestAlgorithm,
    canonicalForm,
    transforms,
  }: Pick<Answer, "key" | "signatureAlgorithm" | "digestAlgorithm" | "canonicalForm" | "transforms">,
): string {
  const signed = new SignedXml({
    privateKey: key.privateKey.export({ type: "pkcs8", format: "pem" }),
    publicCert: key.certificate,
    signatureAlgorithm,
    canonicalizationAlgorithm: canonicalForm,
  });
  if (signatureAlgorithm.includes("hmac")) {
    signed.enableHMAC();
    // An attacker knows the public certificate only.
    signed.privateKey = key.certificate;
  }
  const xpath = `(//*[local-name(.)='${name}'])[1]`;
  signed.addReference({ xpath, digestAlgorithm, transforms });
  signed.computeSignature(xml, {
    prefix: "ds",
    location: { reference: `${xpath}/*[local-name(.)='Issuer']`, action: "after" },
  });
  return signed.getSignedXml();
}

function encryptXml(
  xml: string,
  { encryptFor, cipher, keyTransport, keyDigest, keyMask }: Answer,
): Promise<string> {
  const certificate = new X509Certificate(encryptFor ?? "");
  return promisify(encrypt)(xml, {
    rsa_pub: certificate.publicKey.export({ type: "spki", format: "pem" }) as string,
    pem: certificate.toString(),
    encryptionAlgorithm: cipher,
    keyEncryptionAlgorithm: keyTransport,
    keyEncryptionDigest: keyDigest,
    ...(keyMask === undefined ? {} : { keyEncryptionMgf: keyMask }),
    disallowEncryptionWithInsecureAlgorithm: false,
    warnInsecureAlgorithm: false,
  } as never) as Promise<string>;
}

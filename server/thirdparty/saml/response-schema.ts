import { textOf, type XmlElement } from "./xml.ts";
import { XmlError } from "./xml-error.ts";

/**
 * Content models of the elements allowed in a response, and in messages of a sign-out (SAML Core 2.0, XML Signature and XML
 * Encryption). Signature wrapping attacks need an element that verifiers ignore, such as `Extensions`, `Object` or `Advice`;
 * none is allowed. Elements that are not needed are left out.
 *
 * `?` at most once, `*` any number, `+` at least once, no suffix: exactly once; `#text` for text.
 */
const contentModels: Record<string, string> = {
  "samlp:Response": "saml:Issuer? ds:Signature? samlp:Status saml:Assertion? saml:EncryptedAssertion?",
  "samlp:Status": "samlp:StatusCode samlp:StatusMessage?",
  "samlp:StatusCode": "samlp:StatusCode?",
  "samlp:StatusMessage": "#text",

  "samlp:LogoutRequest": "saml:Issuer saml:NameID samlp:SessionIndex*",
  "samlp:SessionIndex": "#text",
  "samlp:LogoutResponse": "saml:Issuer samlp:Status",

  "saml:Assertion":
    "saml:Issuer ds:Signature? saml:Subject saml:Conditions saml:AuthnStatement+ saml:AttributeStatement*",
  "saml:Issuer": "#text",
  "saml:Subject": "saml:NameID saml:SubjectConfirmation+",
  "saml:NameID": "#text",
  "saml:SubjectConfirmation": "saml:NameID? saml:SubjectConfirmationData?",
  "saml:SubjectConfirmationData": "",
  "saml:Conditions": "saml:AudienceRestriction+ saml:OneTimeUse? saml:ProxyRestriction?",
  "saml:AudienceRestriction": "saml:Audience+",
  "saml:ProxyRestriction": "saml:Audience*",
  "saml:OneTimeUse": "",
  "saml:Audience": "#text",
  "saml:AuthnStatement": "saml:SubjectLocality? saml:AuthnContext",
  "saml:SubjectLocality": "",
  "saml:AuthnContext": "saml:AuthnContextClassRef? saml:AuthnContextDeclRef? saml:AuthenticatingAuthority*",
  "saml:AuthnContextClassRef": "#text",
  "saml:AuthnContextDeclRef": "#text",
  "saml:AuthenticatingAuthority": "#text",
  "saml:AttributeStatement": "saml:Attribute+",
  "saml:Attribute": "saml:AttributeValue*",
  "saml:AttributeValue": "#text saml:NameID?",

  "ds:Signature": "ds:SignedInfo ds:SignatureValue ds:KeyInfo?",
  "ds:SignedInfo": "ds:CanonicalizationMethod ds:SignatureMethod ds:Reference",
  "ds:CanonicalizationMethod": "ec:InclusiveNamespaces?",
  "ds:SignatureMethod": "",
  "ds:Reference": "ds:Transforms ds:DigestMethod ds:DigestValue",
  "ds:Transforms": "ds:Transform+",
  "ds:Transform": "ec:InclusiveNamespaces?",
  "ec:InclusiveNamespaces": "",
  "ds:DigestMethod": "",
  "ds:DigestValue": "#text",
  "ds:SignatureValue": "#text",
  "ds:KeyInfo": "ds:KeyName* ds:KeyValue* ds:X509Data* ds:RetrievalMethod? xenc:EncryptedKey?",
  "ds:KeyName": "#text",
  "ds:KeyValue": "ds:RSAKeyValue",
  "ds:RSAKeyValue": "ds:Modulus ds:Exponent",
  "ds:Modulus": "#text",
  "ds:Exponent": "#text",
  "ds:X509Data": "ds:X509Certificate* ds:X509SubjectName* ds:X509IssuerSerial* ds:X509SKI*",
  "ds:X509Certificate": "#text",
  "ds:X509SubjectName": "#text",
  "ds:X509IssuerSerial": "ds:X509IssuerName ds:X509SerialNumber",
  "ds:X509IssuerName": "#text",
  "ds:X509SerialNumber": "#text",
  "ds:X509SKI": "#text",
  "ds:RetrievalMethod": "",

  "saml:EncryptedAssertion": "xenc:EncryptedData xenc:EncryptedKey?",
  "xenc:EncryptedData": "xenc:EncryptionMethod ds:KeyInfo xenc:CipherData",
  "xenc:EncryptedKey": "xenc:EncryptionMethod ds:KeyInfo? xenc:CipherData xenc:ReferenceList?",
  "xenc:EncryptionMethod": "ds:DigestMethod? xenc11:MGF?",
  "xenc11:MGF": "",
  "xenc:CipherData": "xenc:CipherValue",
  "xenc:CipherValue": "#text",
  "xenc:ReferenceList": "xenc:DataReference*",
  "xenc:DataReference": "",
};

const exclusiveCanonicalization = "http://www.w3.org/2001/10/xml-exc-c14n#";
const envelopedSignature = "http://www.w3.org/2000/09/xmldsig#enveloped-signature";

/** Ciphers of assertions, in the order of preference (XML Encryption 1.1, 5.2). */
export const contentCiphers = {
  "http://www.w3.org/2009/xmlenc11#aes256-gcm": "aes-256-gcm",
  "http://www.w3.org/2009/xmlenc11#aes128-gcm": "aes-128-gcm",
  // Accepted in signed responses only.
  "http://www.w3.org/2001/04/xmlenc#aes256-cbc": "aes-256-cbc",
  "http://www.w3.org/2001/04/xmlenc#aes128-cbc": "aes-128-cbc",
} as const;

/** RSA-OAEP with any mask generation function (XML Encryption 1.1, 5.5.2). */
const rsaOaep = "http://www.w3.org/2009/xmlenc11#rsa-oaep";
/** RSA-OAEP with MGF1 and SHA-1. */
const rsaOaepMgf1p = "http://www.w3.org/2001/04/xmlenc#rsa-oaep-mgf1p";

const sha1 = "http://www.w3.org/2000/09/xmldsig#sha1";
const sha256 = "http://www.w3.org/2001/04/xmlenc#sha256";
const mgf1Sha1 = "http://www.w3.org/2009/xmlenc11#mgf1sha1";
const mgf1Sha256 = "http://www.w3.org/2009/xmlenc11#mgf1sha256";

/** Key transports that the metadata offers, in the order of preference. */
export const keyTransports = [
  { algorithm: rsaOaep, digest: sha256, mask: mgf1Sha256 },
  { algorithm: rsaOaep, digest: sha256, mask: mgf1Sha1 },
  { algorithm: rsaOaepMgf1p, digest: sha256 },
  { algorithm: rsaOaepMgf1p, digest: sha1 },
] as const;

/** Accepted values of `Algorithm` by parent and element. No SHA-1 in signatures, no HMAC, no XSLT. */
const algorithms: Record<string, readonly string[]> = {
  "ds:SignedInfo/ds:CanonicalizationMethod": [exclusiveCanonicalization],
  "ds:SignedInfo/ds:SignatureMethod": [
    "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256",
    "http://www.w3.org/2001/04/xmldsig-more#rsa-sha512",
    "http://www.w3.org/2007/05/xmldsig-more#sha256-rsa-MGF1",
  ],
  "ds:Reference/ds:DigestMethod": [sha256, "http://www.w3.org/2001/04/xmlenc#sha512"],
  "ds:Transforms/ds:Transform": [envelopedSignature, exclusiveCanonicalization],
  "xenc:EncryptedData/xenc:EncryptionMethod": Object.keys(contentCiphers),
  // RSA with PKCS#1 v1.5 padding allows padding oracle attacks (Bleichenbacher).
  "xenc:EncryptedKey/xenc:EncryptionMethod": [rsaOaep, rsaOaepMgf1p],
  // OAEP does not depend on collision resistance.
  "xenc:EncryptionMethod/ds:DigestMethod": [sha1, sha256],
  "xenc:EncryptionMethod/xenc11:MGF": [mgf1Sha1, mgf1Sha256],
};

interface ContentModel {
  text: boolean;
  children: Map<string, { least: number; most: number }>;
}

const counts = { "": [1, 1], "?": [0, 1], "*": [0, Infinity], "+": [1, Infinity] } as const;

function parseContentModel(shape: string): ContentModel {
  const parts = shape.split(" ").filter(Boolean);
  const children = parts.flatMap((part) => {
    const [, kind = "", count = ""] = /^([a-z0-9]+:\w+)([?*+]?)$/.exec(part) ?? [];
    const [least, most] = counts[count as keyof typeof counts];
    return kind ? [[kind, { least, most }] as const] : [];
  });
  return { text: parts.includes("#text"), children: new Map(children) };
}

const parsedContentModels = new Map(
  Object.entries(contentModels).map(([kind, shape]) => [kind, parseContentModel(shape)]),
);

/**
 * Validates an element and its descendants against the tables.
 *
 * @throws XmlError if it does not match, if two elements have the same identifier, or if a signature does not cover
 *   exactly its parent element
 */
export function validateSchema(root: XmlElement): void {
  const identifiers = new Set<string>();
  const check = (element: XmlElement, parent: XmlElement | null): void => {
    const shape = parsedContentModels.get(element.kind);
    if (!shape) throw new XmlError("there is an element that is not allowed");
    checkContent(element, shape);
    checkAlgorithm(element, parent);
    checkIdentifiers(element, identifiers);
    if (element.kind === "ds:Signature") checkSignature(element, parent);
    for (const child of element.children) check(child, element);
  };
  check(root, null);
}

function checkContent(element: XmlElement, shape: ContentModel): void {
  const { kind, children } = element;
  if (!shape.text && textOf(element) !== "") throw new XmlError(`${kind} must not contain text`);
  if (children.some((child) => !shape.children.has(child.kind)))
    throw new XmlError(`${kind} contains an element that is not allowed`);
  for (const [child, { least, most }] of shape.children) {
    const count = children.filter((each) => each.kind === child).length;
    if (count < least || count > most) throw new XmlError(`${kind} contains ${child} ${count} times`);
  }
}

function checkAlgorithm({ kind, attributes }: XmlElement, parent: XmlElement | null): void {
  const allowed = algorithms[`${parent?.kind}/${kind}`];
  if (allowed && !allowed.includes(attributes.get("Algorithm") ?? ""))
    throw new XmlError(`${kind} names an algorithm that is not accepted`);
}

/** Verifiers resolve references by `ID`, `Id` or `id` in any namespace, so each value must be unique. */
function checkIdentifiers({ kind, attributes }: XmlElement, seen: Set<string>): void {
  for (const [name, value] of attributes) {
    const [prefix, local] = name.includes(":") ? name.split(":") : [undefined, name];
    if (local?.toLowerCase() !== "id") continue;
    if (prefix !== undefined || !/^[A-Za-z_][A-Za-z0-9._-]{0,255}$/.test(value))
      throw new XmlError(`${kind} has an invalid identifier`);
    if (seen.has(value)) throw new XmlError("two elements have the same identifier");
    seen.add(value);
  }
}

/** SAML Core 2.0, 5.4: one reference, to the parent of the signature. */
function checkSignature(signature: XmlElement, parent: XmlElement | null): void {
  const [reference] = childrenOf(signature, "ds:SignedInfo").flatMap((info) =>
    childrenOf(info, "ds:Reference"),
  );
  const own = parent?.attributes.get("ID");
  if (!own || reference?.attributes.get("URI") !== `#${own}`)
    throw new XmlError("a signature does not refer to its parent element");
  const transforms = reference.children
    .flatMap((child) => childrenOf(child, "ds:Transform"))
    .map(({ attributes }) => attributes.get("Algorithm"));
  if (
    transforms[0] !== envelopedSignature ||
    transforms[1] !== exclusiveCanonicalization ||
    transforms.length > 2
  )
    throw new XmlError("a signature has transforms that are not accepted");
  const digest = childOf(reference, "ds:DigestValue");
  if (!digest || !/^[A-Za-z0-9+/]+={0,2}$/.test(textOf(digest))) throw new XmlError("a digest is invalid");
}

/** Returns the children of a kind, in order. */
export function childrenOf({ children }: XmlElement, kind: string): XmlElement[] {
  return children.filter((child) => child.kind === kind);
}

/** Returns the first child of a kind. */
export function childOf(element: XmlElement | undefined, kind: string): XmlElement | undefined {
  return element?.children.find((child) => child.kind === kind);
}

import { textOf, type XmlElement } from "./xml.ts";
import { XmlError } from "./xml-error.ts";

/**
 * What may stand in a response (SAML Core 2.0, XML Signature and XML Encryption), and where: a table instead of
 * searches. A signature wrapping attack needs a place that the verifier passes over and the reader does not, such as
 * `Extensions`, `Object` or `Advice`; here there is none. What a provider could write and people do not need to sign
 * in with is left out.
 *
 * `?` at most once, `*` any number, `+` one at least, nothing: exactly once; `#text` for words.
 */
const contentModels: Record<string, string> = {
  "samlp:Response": "saml:Issuer? ds:Signature? samlp:Status saml:Assertion? saml:EncryptedAssertion?",
  "samlp:Status": "samlp:StatusCode samlp:StatusMessage?",
  "samlp:StatusCode": "samlp:StatusCode?",
  "samlp:StatusMessage": "#text",

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
  "xenc:EncryptionMethod": "ds:DigestMethod?",
  "xenc:CipherData": "xenc:CipherValue",
  "xenc:CipherValue": "#text",
  "xenc:ReferenceList": "xenc:DataReference*",
  "xenc:DataReference": "",
};

export const exclusiveCanonicalization = "http://www.w3.org/2001/10/xml-exc-c14n#";
const envelopedSignature = "http://www.w3.org/2000/09/xmldsig#enveloped-signature";

/** Ciphers that tell by themselves when they were tampered with. */
export const authenticatedCiphers = {
  "http://www.w3.org/2009/xmlenc11#aes128-gcm": "aes-128-gcm",
  "http://www.w3.org/2009/xmlenc11#aes256-gcm": "aes-256-gcm",
} as const;

/** The values of `Algorithm` that are taken, by element and parent. No SHA-1 in signatures, no HMAC, no XSLT. */
const algorithms: Record<string, readonly string[]> = {
  "ds:SignedInfo/ds:CanonicalizationMethod": [exclusiveCanonicalization],
  "ds:SignedInfo/ds:SignatureMethod": [
    "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256",
    "http://www.w3.org/2001/04/xmldsig-more#rsa-sha512",
    "http://www.w3.org/2007/05/xmldsig-more#sha256-rsa-MGF1",
  ],
  "ds:Reference/ds:DigestMethod": [
    "http://www.w3.org/2001/04/xmlenc#sha256",
    "http://www.w3.org/2001/04/xmlenc#sha512",
  ],
  "ds:Transforms/ds:Transform": [envelopedSignature, exclusiveCanonicalization],
  "xenc:EncryptedData/xenc:EncryptionMethod": [
    ...Object.keys(authenticatedCiphers),
    "http://www.w3.org/2001/04/xmlenc#aes128-cbc",
    "http://www.w3.org/2001/04/xmlenc#aes256-cbc",
  ],
  // RSA with PKCS#1 v1.5 padding answers questions about the key (Bleichenbacher).
  "xenc:EncryptedKey/xenc:EncryptionMethod": ["http://www.w3.org/2001/04/xmlenc#rsa-oaep-mgf1p"],
  // Within OAEP, SHA-1 is not asked to resist collisions; the library knows no other there.
  "xenc:EncryptionMethod/ds:DigestMethod": ["http://www.w3.org/2000/09/xmldsig#sha1"],
};

interface ContentModel {
  text: boolean;
  children: Map<string, { least: number; most: number }>;
}

const counts = { "": [1, 1], "?": [0, 1], "*": [0, Infinity], "+": [1, Infinity] } as const;

function parseContentModel(shape: string): ContentModel {
  const parts = shape.split(" ").filter(Boolean);
  const children = parts.flatMap((part) => {
    const [, kind = "", count = ""] = /^([a-z]+:\w+)([?*+]?)$/.exec(part) ?? [];
    const [least, most] = counts[count as keyof typeof counts];
    return kind ? [[kind, { least, most }] as const] : [];
  });
  return { text: parts.includes("#text"), children: new Map(children) };
}

const parsedContentModels = new Map(
  Object.entries(contentModels).map(([kind, shape]) => [kind, parseContentModel(shape)]),
);

/**
 * Whether an element, and everything in it, is what the tables say.
 *
 * @throws XmlError when it is not; also when two elements carry one identifier, or a signature does not cover the
 *   whole of the element it stands in and nothing else
 */
export function validateSchema(root: XmlElement): void {
  const identifiers = new Set<string>();
  const check = (element: XmlElement, parent: XmlElement | null): void => {
    const shape = parsedContentModels.get(element.kind);
    if (!shape) throw new XmlError("there is an element that has no business there");
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
  if (!shape.text && textOf(element) !== "") throw new XmlError(`${kind} holds words`);
  if (children.some((child) => !shape.children.has(child.kind)))
    throw new XmlError(`${kind} holds an element that has no business there`);
  for (const [child, { least, most }] of shape.children) {
    const count = children.filter((each) => each.kind === child).length;
    if (count < least || count > most) throw new XmlError(`${kind} holds ${child} ${count} times`);
  }
}

function checkAlgorithm({ kind, attributes }: XmlElement, parent: XmlElement | null): void {
  const allowed = algorithms[`${parent?.kind}/${kind}`];
  if (allowed && !allowed.includes(attributes.get("Algorithm") ?? ""))
    throw new XmlError(`${kind} names an algorithm that is not taken`);
}

/** Verifiers look for what is signed by `ID`, `Id` or `id`, whatever its namespace: there must be one to find. */
function checkIdentifiers({ kind, attributes }: XmlElement, seen: Set<string>): void {
  for (const [name, value] of attributes) {
    const [prefix, local] = name.includes(":") ? name.split(":") : [undefined, name];
    if (local?.toLowerCase() !== "id") continue;
    if (prefix !== undefined || !/^[A-Za-z_][A-Za-z0-9._-]{0,255}$/.test(value))
      throw new XmlError(`${kind} has an identifier that is none`);
    if (seen.has(value)) throw new XmlError("two elements have one identifier");
    seen.add(value);
  }
}

/** SAML Core 2.0, 5.4: one reference, to the element that the signature stands in. */
function checkSignature(signature: XmlElement, parent: XmlElement | null): void {
  const [reference] = childrenOf(signature, "ds:SignedInfo").flatMap((info) =>
    childrenOf(info, "ds:Reference"),
  );
  const own = parent?.attributes.get("ID");
  if (!own || reference?.attributes.get("URI") !== `#${own}`)
    throw new XmlError("a signature is of something else than the element it stands in");
  const transforms = reference.children
    .flatMap((child) => childrenOf(child, "ds:Transform"))
    .map(({ attributes }) => attributes.get("Algorithm"));
  if (
    transforms[0] !== envelopedSignature ||
    transforms[1] !== exclusiveCanonicalization ||
    transforms.length > 2
  )
    throw new XmlError("a signature transforms what it covers");
  const digest = childOf(reference, "ds:DigestValue");
  if (!digest || !/^[A-Za-z0-9+/]+={0,2}$/.test(textOf(digest))) throw new XmlError("a digest is none");
}

/** The children of a kind, in order. */
export function childrenOf({ children }: XmlElement, kind: string): XmlElement[] {
  return children.filter((child) => child.kind === kind);
}

/** The only child of a kind, when there is one. */
export function childOf(element: XmlElement | undefined, kind: string): XmlElement | undefined {
  return element?.children.find((child) => child.kind === kind);
}

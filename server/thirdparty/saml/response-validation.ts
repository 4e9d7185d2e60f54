import type { KeyObject } from "node:crypto";
import { decryptAssertion, isAuthenticated } from "./encrypted-assertion.ts";
import { childOf, validateSchema } from "./response-schema.ts";
import { readXml, type XmlElement, type XmlLimits } from "./xml.ts";
import { XmlError } from "./xml-error.ts";

/**
 * Ten times the size of usual responses. The library takes quadratic time in elements and attributes before it has
 * verified a signature.
 */
export const RESPONSE_LIMITS: XmlLimits = { bytes: 128 * 1024, elements: 1024, comments: false };

/** A response that matches the schema. Its signatures are not verified yet. */
export interface ValidatedResponse {
  /** The validated document. */
  document: string;
  response: XmlElement;
  /** The unverified assertion; null if it is encrypted. */
  assertion: XmlElement | null;
  /** Whether response and assertion have a signature of their own. */
  signed: { response: boolean; assertion: boolean };
}

export type ResponseVerdict =
  | { ok: true; validated: ValidatedResponse }
  | { ok: false; reason: "status_not_success" }
  /** `detail`: what is wrong with the document. */
  | { ok: false; reason: "answer_malformed"; detail: string };

const byteOrderMark = Buffer.of(0xef, 0xbb, 0xbf);
const success = "urn:oasis:names:tc:SAML:2.0:status:Success";

/**
 * Validates a response before the library parses it. Accepts only documents that all parsers interpret in the same
 * way: no document type, entity, comment or processing instruction; one root, one assertion, one reference in each
 * signature, to its parent element; unique identifiers; and algorithms of a short list.
 *
 * @param samlResponse the form field, base64 (SAML Bindings 2.0, 3.5.4)
 * @param decryptionKey for encrypted assertions
 */
export async function validateResponse(
  samlResponse: string,
  decryptionKey: KeyObject,
): Promise<ResponseVerdict> {
  try {
    const document = decodeBase64(samlResponse);
    const response = readXml(document, RESPONSE_LIMITS);
    if (response.kind !== "samlp:Response") return malformed("the root element is not a response");
    const status = childOf(childOf(response, "samlp:Status"), "samlp:StatusCode")?.attributes.get("Value");
    if (status !== success) return { ok: false, reason: "status_not_success" };
    validateSchema(response);
    return { ok: true, validated: await validateAssertionElement(document, response, decryptionKey) };
  } catch (error) {
    if (!(error instanceof XmlError)) throw error;
    return malformed(error.message);
  }
}

/**
 * Parses and validates a standalone assertion by the same rules.
 *
 * @throws XmlError
 */
export function validateAssertion(document: Uint8Array | string): XmlElement {
  const assertion = readXml(document, RESPONSE_LIMITS);
  if (assertion.kind !== "saml:Assertion") throw new XmlError("the root element is not an assertion");
  validateSchema(assertion);
  return assertion;
}

async function validateAssertionElement(
  document: Buffer,
  response: XmlElement,
  decryptionKey: KeyObject,
): Promise<ValidatedResponse> {
  const assertion = childOf(response, "saml:Assertion") ?? null;
  const encrypted = childOf(response, "saml:EncryptedAssertion");
  if ((assertion === null) === (encrypted === undefined))
    throw new XmlError("there is not exactly one assertion");
  const signed = {
    response: childOf(response, "ds:Signature") !== undefined,
    assertion: assertion !== null && childOf(assertion, "ds:Signature") !== undefined,
  };
  if (encrypted && !signed.response) {
    // Unauthenticated ciphertext would allow a decryption oracle: whether altered ciphertext parses reveals plaintext.
    if (!isAuthenticated(encrypted)) throw new XmlError("an encrypted assertion is not authenticated");
    const inner = validateAssertion(await decryptAssertion(encrypted, decryptionKey));
    signed.assertion = childOf(inner, "ds:Signature") !== undefined;
  }
  if (!signed.response && !signed.assertion) throw new XmlError("nothing is signed");
  return { document: document.toString(), response, assertion, signed };
}

function decodeBase64(text: string): Buffer {
  const packed = text.replace(/[ \t\r\n]+/g, "");
  if (packed.length % 4 !== 0 || !/^[A-Za-z0-9+/]+={0,2}$/.test(packed))
    throw new XmlError("the document is not base64");
  const document = Buffer.from(packed, "base64");
  // Some providers send a byte order mark, which some parsers keep.
  return document.subarray(0, 3).equals(byteOrderMark) ? document.subarray(3) : document;
}

function malformed(detail: string): ResponseVerdict {
  return { ok: false, reason: "answer_malformed", detail };
}

import type { KeyObject } from "node:crypto";
import { decryptAssertion } from "./encrypted-assertion.ts";
import { childOf, validateSchema } from "./response-schema.ts";
import { RESPONSE_LIMITS, type ValidatedResponse, validateAssertion } from "./response-validation.ts";
import { readXml, type XmlElement } from "./xml.ts";
import { XmlError } from "./xml-error.ts";

/** Loaded on first use, because most deployments do not use SAML. */
const loadLibraries = async () => {
  const [{ DOMParser }, { SignedXml }] = await Promise.all([import("@xmldom/xmldom"), import("xml-crypto")]);
  return { DOMParser, SignedXml };
};

const signatureNamespace = "http://www.w3.org/2000/09/xmldsig#";

export type SignedContent =
  | { ok: true; assertion: XmlElement }
  | { ok: false; reason: "signature" }
  /** `detail`: what is wrong with the document. */
  | { ok: false; reason: "answer_malformed"; detail: string };

/**
 * Verifies every signature of a response, from the outermost to the innermost, and decrypts in between. Each step reads
 * only the canonical bytes that the step before has verified.
 *
 * @param certificates PEM, of the provider's metadata only; keys in the response are ignored
 * @returns the assertion, parsed from signed bytes
 */
export async function readSignedAssertion(
  { document, signed }: ValidatedResponse,
  certificates: readonly string[],
  decryptionKey: KeyObject,
): Promise<SignedContent> {
  try {
    const outer = signed.response ? await signedBytes(document, "Response", certificates) : document;
    if (outer === null) return { ok: false, reason: "signature" };
    const response = readXml(outer, RESPONSE_LIMITS);
    validateSchema(response);
    const encrypted = childOf(response, "saml:EncryptedAssertion");
    const inner = encrypted ? (await decryptAssertion(encrypted, decryptionKey)).toString() : outer;
    if (signed.assertion) {
      const covered = await signedBytes(inner, "Assertion", certificates);
      return covered === null
        ? { ok: false, reason: "signature" }
        : { ok: true, assertion: validateAssertion(covered) };
    }
    const assertion = encrypted ? validateAssertion(inner) : childOf(response, "saml:Assertion");
    // The response is signed here: `validateResponse` refuses one in which nothing is.
    return assertion && signed.response ? { ok: true, assertion } : { ok: false, reason: "signature" };
  } catch (error) {
    if (!(error instanceof XmlError)) throw error;
    return { ok: false, reason: "answer_malformed", detail: error.message };
  }
}

/**
 * Verifies the signature of the root element, or of the assertion in it (XML Signature 1.1, 3.2).
 *
 * @param document validated by `validateSchema`, so the signature has one reference, to its parent
 * @returns the canonical bytes that the signature covers; null if no certificate verifies it
 */
async function signedBytes(
  document: string,
  name: "Response" | "Assertion",
  certificates: readonly string[],
): Promise<string | null> {
  const { DOMParser, SignedXml } = await loadLibraries();
  // XML 1.0, 2.11.
  const text = document.replace(/\r\n?/g, "\n");
  const root = new DOMParser().parseFromString(text, "text/xml").documentElement;
  const parent = root?.localName === name ? root : root && elementsOf(root, name)[0];
  const [signature, ...others] = parent ? elementsOf(parent, "Signature") : [];
  if (!signature || others.length > 0 || signature.namespaceURI !== signatureNamespace) return null;
  for (const publicCert of certificates) {
    const verifier = new SignedXml({ publicCert });
    try {
      verifier.loadSignature(signature);
      if (!verifier.checkSignature(text)) continue;
    } catch {
      // The library throws for a signature of another key.
      continue;
    }
    const [covered, ...more] = verifier.getSignedReferences();
    return covered === undefined || more.length > 0 ? null : covered;
  }
  return null;
}

function elementsOf(parent: Element, name: string): Element[] {
  return Array.from(parent.childNodes).filter(
    (node): node is Element => node.nodeType === 1 && (node as Element).localName === name,
  );
}

import { createSign, createVerify, type KeyObject } from "node:crypto";
import { deflateRawSync, inflateRawSync } from "node:zlib";

/**
 * Signed messages in addresses (HTTP-Redirect, SAML Bindings 2.0, 3.4). The signature covers the parameters as they are
 * written in the address, so both sides of it are handled as text here: the library decodes and encodes again what it signs
 * and verifies.
 */

export type MessageName = "SAMLRequest" | "SAMLResponse";

/** A message as it was sent. Nothing of it is verified. */
export interface RedirectMessage {
  name: MessageName;
  /** The XML document. */
  document: Buffer;
  /** To be returned unchanged; null if there is none. */
  relayState: string | null;
  /** Whether the key of one of these certificates (PEM) has signed it. */
  isSignedBy(certificates: readonly string[]): boolean;
}

const signatureAlgorithms: Record<string, string> = {
  "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256": "RSA-SHA256",
  "http://www.w3.org/2001/04/xmldsig-more#rsa-sha384": "RSA-SHA384",
  "http://www.w3.org/2001/04/xmldsig-more#rsa-sha512": "RSA-SHA512",
};

const RSA_SHA256 = "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256";
const DEFLATE = "urn:oasis:names:tc:SAML:2.0:bindings:URL-Encoding:DEFLATE";

const MAX_QUERY_CHARACTERS = 16 * 1024;
const MAX_DOCUMENT_BYTES = 64 * 1024;

/** The standard has 80 bytes; some providers send more. */
const MAX_RELAY_STATE_CHARACTERS = 1024;

/** In the order of the signature (3.4.4.1). */
const signedNames = ["SAMLRequest", "SAMLResponse", "RelayState", "SigAlg"];
const ownNames = [...signedNames, "Signature", "SAMLEncoding"];

/**
 * Reads a message. Its parameters may be in any order, each once.
 *
 * @param search the query of the request as it was sent, with `?`
 * @returns null if it is no such message, or is too large
 */
export function readRedirect(search: string): RedirectMessage | null {
  if (search.length > MAX_QUERY_CHARACTERS) return null;
  const written = new Map<string, string>();
  for (const pair of search.slice(1).split("&")) {
    const at = pair.indexOf("=");
    const name = at < 0 ? pair : pair.slice(0, at);
    if (!ownNames.includes(name)) continue;
    if (written.has(name)) return null;
    written.set(name, at < 0 ? "" : pair.slice(at + 1));
  }
  const [name, other] = (["SAMLRequest", "SAMLResponse"] as const).filter((each) => written.has(each));
  if (!name || other) return null;
  const decoded = new URLSearchParams([...written].map(([key, value]) => `${key}=${value}`).join("&"));
  const relayState = decoded.get("RelayState");
  if (relayState !== null && relayState.length > MAX_RELAY_STATE_CHARACTERS) return null;
  if ((decoded.get("SAMLEncoding") ?? DEFLATE) !== DEFLATE) return null;
  const document = inflated(decoded.get(name) ?? "");
  if (!document) return null;

  const signed = signedNames
    .flatMap((each) => (written.has(each) ? [`${each}=${written.get(each)}`] : []))
    .join("&");
  // Parsers of addresses encode an apostrophe, which senders need not (URL Standard, special-query percent-encode set).
  const asSent = [...new Set([signed, signed.replaceAll("%27", "'")])];
  const algorithm = decoded.get("SigAlg") ?? "";
  const digest = Object.hasOwn(signatureAlgorithms, algorithm) ? signatureAlgorithms[algorithm] : undefined;
  const signature = Buffer.from(decoded.get("Signature") ?? "", "base64");
  return {
    name,
    document,
    relayState,
    isSignedBy: (certificates) =>
      digest !== undefined &&
      signature.length > 0 &&
      certificates.some((certificate) =>
        asSent.some((text) => createVerify(digest).update(text).verify(certificate, signature)),
      ),
  };
}

function inflated(base64: string): Buffer | null {
  if (!/^[A-Za-z0-9+/\s]+={0,2}\s*$/.test(base64)) return null;
  try {
    return inflateRawSync(Buffer.from(base64, "base64"), { maxOutputLength: MAX_DOCUMENT_BYTES });
  } catch {
    return null;
  }
}

/**
 * Returns the address that a browser brings a signed message to.
 *
 * @param address of the receiver; its query is kept
 * @param relayState returned with the answer; null for none
 */
export function redirectTo(
  address: string,
  { name, xml, relayState }: { name: MessageName; xml: string; relayState: string | null },
  privateKey: KeyObject,
): string {
  const parameters = [
    [name, deflateRawSync(Buffer.from(xml)).toString("base64")],
    ...(relayState === null ? [] : [["RelayState", relayState]]),
    ["SigAlg", RSA_SHA256],
  ];
  const signed = parameters.map(([key, value = ""]) => `${key}=${encoded(value)}`).join("&");
  const signature = createSign("RSA-SHA256").update(signed).sign(privateKey, "base64");
  const query = `${signed}&Signature=${encoded(signature)}`;
  return `${address}${address.includes("?") ? "&" : "?"}${query}`;
}

/** Encodes the apostrophe too, so that receivers which parse the address first verify the same text. */
const encoded = (value: string): string => encodeURIComponent(value).replaceAll("'", "%27");

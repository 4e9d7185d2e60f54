import { createDecipheriv, type KeyObject } from "node:crypto";
import { childOf, childrenOf, contentCiphers } from "./response-schema.ts";
import type { XmlElement } from "./xml.ts";
import { XmlError } from "./xml-error.ts";

/** Loaded on first use, with the other libraries of SAML. */
const loadLibrary = () => import("xml-encryption");

/** XML Encryption 1.1, 5.2.4: nonce, ciphertext, tag. */
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** XML Encryption 1.1, 5.2.2: initialization vector, then blocks of this size. */
const BLOCK_BYTES = 16;

/** Whether an assertion is encrypted with an authenticated cipher. */
export function isAuthenticated(encrypted: XmlElement): boolean {
  return cipherOf(encrypted)?.endsWith("-gcm") === true;
}

/**
 * Decrypts an assertion that `validateSchema` accepts. Our encryption key is public, so the result must be validated
 * like any other untrusted document. Ciphertext without authentication must be covered by a verified signature.
 *
 * @param encrypted `saml:EncryptedAssertion`
 * @returns the assertion as an XML document
 * @throws XmlError if it cannot be decrypted with this key, with the same message for every reason
 */
export async function decryptAssertion(encrypted: XmlElement, privateKey: KeyObject): Promise<Buffer> {
  const cipher = cipherOf(encrypted);
  const keys = descendantsOf(encrypted, "xenc:EncryptedKey");
  const [data] = childrenOf(encrypted, "xenc:EncryptedData");
  const [encryptedKey] = keys;
  // Of several keys, parsers may choose different ones.
  if (!cipher || !data || !encryptedKey || keys.length !== 1)
    throw new XmlError("the encryption is not supported");
  const { decryptKeyInfo } = await loadLibrary();
  try {
    const key = decryptKeyInfo(keyInfoXml(encryptedKey), {
      key: privateKey.export({ type: "pkcs8", format: "pem" }),
    });
    return decryptContent(cipher, key, Buffer.from(cipherValue(data), "base64"));
  } catch {
    throw new XmlError("the assertion cannot be decrypted");
  }
}

/**
 * Writes the key for the library, which chooses the padding by its algorithms (XML Encryption 1.1, 5.5.2). All values
 * are from the closed lists of `response-schema.ts`, or base64.
 */
function keyInfoXml(encryptedKey: XmlElement): string {
  const method = childOf(encryptedKey, "xenc:EncryptionMethod");
  const named = (kind: string, tag: string) => {
    const algorithm = childOf(method, kind)?.attributes.get("Algorithm");
    return algorithm === undefined ? "" : `<${tag} Algorithm="${algorithm}"/>`;
  };
  const digest = named("ds:DigestMethod", "DigestMethod");
  const mask = named("xenc11:MGF", "MGF");
  return `<KeyInfo><EncryptedKey><EncryptionMethod Algorithm="${method?.attributes.get("Algorithm")}">${digest}${mask}</EncryptionMethod><CipherData><CipherValue>${cipherValue(encryptedKey)}</CipherValue></CipherData></EncryptedKey></KeyInfo>`;
}

function decryptContent(cipher: ContentCipher, key: Buffer, content: Buffer): Buffer {
  if (cipher === "aes-128-gcm" || cipher === "aes-256-gcm") {
    const decipher = createDecipheriv(cipher, key, content.subarray(0, NONCE_BYTES), {
      authTagLength: TAG_BYTES,
    });
    decipher.setAuthTag(content.subarray(-TAG_BYTES));
    return Buffer.concat([decipher.update(content.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]);
  }
  const decipher = createDecipheriv(cipher, key, content.subarray(0, BLOCK_BYTES)).setAutoPadding(false);
  const padded = Buffer.concat([decipher.update(content.subarray(BLOCK_BYTES)), decipher.final()]);
  // The last byte is the length of the padding, whose other bytes are arbitrary.
  const padding = padded.at(-1) ?? 0;
  if (padding < 1 || padding > BLOCK_BYTES) throw new XmlError("the padding is invalid");
  return padded.subarray(0, -padding);
}

type ContentCipher = (typeof contentCiphers)[keyof typeof contentCiphers];

function cipherOf(encrypted: XmlElement): ContentCipher | undefined {
  const method = childOf(childOf(encrypted, "xenc:EncryptedData"), "xenc:EncryptionMethod");
  const algorithm = method?.attributes.get("Algorithm") ?? "";
  return Object.hasOwn(contentCiphers, algorithm)
    ? contentCiphers[algorithm as keyof typeof contentCiphers]
    : undefined;
}

/** Returns the base64 of a ciphertext, without line breaks and any other character. */
function cipherValue(element: XmlElement): string {
  const text = childOf(childOf(element, "xenc:CipherData"), "xenc:CipherValue")?.text ?? "";
  return Buffer.from(text, "base64").toString("base64");
}

function descendantsOf(element: XmlElement, kind: string): XmlElement[] {
  return element.children.flatMap((child) => [
    ...(child.kind === kind ? [child] : []),
    ...descendantsOf(child, kind),
  ]);
}

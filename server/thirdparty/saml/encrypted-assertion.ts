import { constants, createDecipheriv, type KeyObject, privateDecrypt } from "node:crypto";
import { authenticatedCiphers, childOf, childrenOf } from "./response-schema.ts";
import type { XmlElement } from "./xml.ts";
import { XmlError } from "./xml-error.ts";

/** XML Encryption 1.1, 5.2.4: nonce, ciphertext, tag. */
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Whether an assertion is encrypted with an authenticated cipher. */
export function isAuthenticated(encrypted: XmlElement): boolean {
  return cipherOf(encrypted) !== undefined;
}

/**
 * Decrypts an assertion that `validateSchema` accepts and that has an authenticated cipher. Our encryption key is public,
 * so the result must be validated like any other untrusted document.
 *
 * @param encrypted `saml:EncryptedAssertion`
 * @throws XmlError if it cannot be decrypted with this key
 */
export function decryptAssertion(encrypted: XmlElement, privateKey: KeyObject): Buffer {
  const cipher = cipherOf(encrypted);
  const keys = descendantsOf(encrypted, "xenc:EncryptedKey");
  const [data] = childrenOf(encrypted, "xenc:EncryptedData");
  // Of several keys, parsers may choose different ones.
  if (!cipher || !data || keys.length !== 1) throw new XmlError("the encryption is not supported");
  try {
    const key = privateDecrypt(
      { key: privateKey, padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: "sha1" },
      cipherValue(keys[0]),
    );
    const sealed = cipherValue(data);
    const decipher = createDecipheriv(cipher, key, sealed.subarray(0, NONCE_BYTES), {
      authTagLength: TAG_BYTES,
    });
    decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
    return Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]);
  } catch {
    throw new XmlError("the assertion cannot be decrypted");
  }
}

function cipherOf(encrypted: XmlElement) {
  const method = childOf(childOf(encrypted, "xenc:EncryptedData"), "xenc:EncryptionMethod");
  const algorithm = method?.attributes.get("Algorithm") ?? "";
  return Object.hasOwn(authenticatedCiphers, algorithm)
    ? authenticatedCiphers[algorithm as keyof typeof authenticatedCiphers]
    : undefined;
}

function cipherValue(element: XmlElement | undefined): Buffer {
  const text = childOf(childOf(element, "xenc:CipherData"), "xenc:CipherValue")?.text ?? "";
  return Buffer.from(text, "base64");
}

function descendantsOf(element: XmlElement, kind: string): XmlElement[] {
  return element.children.flatMap((child) => [
    ...(child.kind === kind ? [child] : []),
    ...descendantsOf(child, kind),
  ]);
}

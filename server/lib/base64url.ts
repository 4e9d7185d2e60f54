/**
 * Decodes base64url (RFC 4648 section 5) without padding, and accepts only the canonical text of the bytes: Node's own
 * decoder also takes padding, the alphabet of base64, unused bits that are set and foreign characters.
 *
 * @returns null for any other text
 */
export function decodeBase64url(text: string): Buffer | null {
  const bytes = Buffer.from(text, "base64url");
  return bytes.toString("base64url") === text ? bytes : null;
}

/** Decodes base64url as `decodeBase64url` does, with or without the complete padding. */
export function decodePaddedBase64url(text: string): Buffer | null {
  const bare = text.replace(/={1,2}$/, "");
  return bare.length === text.length || text.length % 4 === 0 ? decodeBase64url(bare) : null;
}

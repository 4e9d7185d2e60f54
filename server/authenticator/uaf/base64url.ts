/**
 * Decodes base64url (RFC 4648 section 5) without padding, as the UAF protocol writes bytes in JSON: exactly one text
 * for any bytes.
 *
 * @returns null for any other text
 */
export function decodeBase64url(text: string): Buffer | null {
  const bytes = Buffer.from(text, "base64url");
  return bytes.toString("base64url") === text ? bytes : null;
}

/** The same, from clients that pad: the `=` that fill the last group up may be there, all of them. */
export function decodePaddedBase64url(text: string): Buffer | null {
  const bare = text.replace(/={1,2}$/, "");
  return bare.length === text.length || text.length % 4 === 0 ? decodeBase64url(bare) : null;
}

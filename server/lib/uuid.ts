const pattern = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Whether a text is a UUID of any version, in either case of letters (RFC 9562, 4). */
export function isUuid(text: string): boolean {
  return pattern.test(text.toLowerCase());
}

/** Whether a text is a UUID in lower case, the one form in which PostgreSQL and this service write it. */
export function isCanonicalUuid(text: string): boolean {
  return pattern.test(text);
}

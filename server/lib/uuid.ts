import type { Platform } from "./platform.ts";

const pattern = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Whether a text is a UUID of any version, in either case of letters (RFC 9562, 4). */
export function isUuid(text: string): boolean {
  return pattern.test(text.toLowerCase());
}

/** Whether a text is a UUID in lower case, the one form in which PostgreSQL and this service write it. */
export function isCanonicalUuid(text: string): boolean {
  return pattern.test(text);
}

/**
 * A UUID of version 7 (RFC 9562, 5.7): the time in milliseconds, then 74 random bits. For the keys of rows that are
 * written in the order of time, and read mostly while they are young: an index of random ones would be changed at
 * another page by each row.
 */
export function timeOrderedUuid({ uuid, clockShift }: Pick<Platform, "uuid" | "clockShift">): string {
  const time = (Date.now() + clockShift()).toString(16).padStart(12, "0");
  return `${time.slice(0, 8)}-${time.slice(8)}-7${uuid().slice(15)}`;
}

/** Returns the time in a UUID of version 7, in milliseconds since 1970; null for one of another version. */
export function timeOfUuid(uuid: string): number | null {
  return uuid[14] === "7" ? Number.parseInt(uuid.slice(0, 8) + uuid.slice(9, 13), 16) : null;
}

import type { Platform } from "./platform.ts";

const pattern = /^[A-Za-z0-9_-]{43}$/;

/** A random secret of 256 bits: 43 characters of base64url. */
export function randomToken(platform: Pick<Platform, "randomBytes">): string {
  return platform.randomBytes(32).toString("base64url");
}

/** Whether a text has the form of a `randomToken`. Other texts need no query. */
export function isRandomToken(text: string): boolean {
  return pattern.test(text);
}

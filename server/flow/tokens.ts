import { createHash } from "node:crypto";
import type { Platform } from "../lib/platform.ts";

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** A `csrf_token`: 32 characters of [0-9A-Za-z], uniform, about 190 bits. */
export function newToken(platform: Platform): string {
  let token = "";
  while (token.length < 32) {
    for (const byte of platform.randomBytes(48)) {
      // 248 is the largest multiple of 62 in a byte: what lies above would favour the first characters.
      if (byte < 248 && token.length < 32) token += alphabet[byte % 62];
    }
  }
  return token;
}

/** The secret by which a flow can be shown again when an answer was lost: 256 bits, base64url. */
export function newResumeSecret(platform: Platform): string {
  return platform.randomBytes(32).toString("base64url");
}

/** How both are kept. They are random, so a plain digest is enough. */
export function digest(secret: string): Buffer {
  return createHash("sha256").update(secret).digest();
}

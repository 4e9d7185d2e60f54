import type { Platform } from "./platform.ts";

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** A random text of [0-9A-Za-z], uniform: 5.95 bits a character. */
export function randomAlphanumeric(platform: Pick<Platform, "randomBytes">, length: number): string {
  let text = "";
  while (text.length < length) {
    for (const byte of platform.randomBytes(length + 16)) {
      // 248 is the largest multiple of 62 in a byte: higher values would favour the first characters.
      if (byte < 248 && text.length < length) text += alphabet[byte % 62];
    }
  }
  return text;
}

import type { Platform } from "./platform.ts";

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** A random text of [0-9A-Za-z], uniform: 5.95 bits a character. */
export function randomAlphanumeric(platform: Pick<Platform, "randomBytes">, length: number): string {
  return randomCharacters(platform, length, alphabet);
}

/**
 * A random text, uniform.
 *
 * @param characters at most 256, all different, each of one UTF-16 code unit
 */
export function randomCharacters(
  platform: Pick<Platform, "randomBytes">,
  length: number,
  characters: string,
): string {
  // The largest multiple in a byte: higher values would favour the first characters.
  const end = 256 - (256 % characters.length);
  let text = "";
  while (text.length < length) {
    for (const byte of platform.randomBytes(length + 16)) {
      if (byte < end && text.length < length) text += characters.charAt(byte % characters.length);
    }
  }
  return text;
}

import type { Config } from "../../config/schema.ts";
import type { Platform } from "../../lib/platform.ts";
import { randomCharacters } from "../../lib/random-alphanumeric.ts";

export type PasscodeCharset = Config["email"]["passcode_charset"];

const PASSCODE_LENGTH = 6;

/** Digits and capital letters without 0, O, 1, I and L. Small letters are accepted in their place. */
const ALPHANUMERIC = "23456789ABCDEFGHJKMNPQRSTUVWXYZ";

/** Returns a random code of six characters, uniformly distributed. */
export function newPasscode(platform: Pick<Platform, "randomBytes">, charset: PasscodeCharset): string {
  if (charset === "alphanumeric") return randomCharacters(platform, PASSCODE_LENGTH, ALPHANUMERIC);
  // The largest multiple of a million in three bytes: numbers above it would favour smaller codes.
  const end = 16_000_000;
  for (;;) {
    const number = platform.randomBytes(3).readUIntBE(0, 3);
    if (number < end) return String(number % 1_000_000).padStart(PASSCODE_LENGTH, "0");
  }
}

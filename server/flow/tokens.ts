import type { Platform } from "../lib/platform.ts";
import { randomAlphanumeric } from "../lib/random-alphanumeric.ts";

/** Generates a `csrf_token`: 32 characters of [0-9A-Za-z], about 190 bits. */
export function newToken(platform: Platform): string {
  return randomAlphanumeric(platform, 32);
}

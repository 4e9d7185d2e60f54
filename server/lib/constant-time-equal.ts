import { timingSafeEqual } from "node:crypto";
import { sha256 } from "./sha256.ts";

/** Compares two values by their digests, so that timing reveals neither their contents nor their lengths. */
export function constantTimeEqual(one: string | Uint8Array, other: string | Uint8Array): boolean {
  return timingSafeEqual(sha256(one), sha256(other));
}

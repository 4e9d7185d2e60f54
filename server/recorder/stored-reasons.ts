import { inflateRawSync } from "node:zlib";
import { z } from "zod";
import type { NotOffered } from "../flow/observed-step.ts";
import { compressedOnce } from "./compressed-once.ts";

const reasons = z.record(z.string(), z.array(z.string()));

const stored = z.object({ actions: reasons, states: reasons });

/** More than what is stored of any state. */
const MAX_BYTES = 65_536;

const compressed = compressedOnce();

/** Compresses the names of reasons to some hundred bytes. Null for none. */
export const storeReasons = (notOffered: NotOffered | null): Buffer | null =>
  notOffered && compressed(JSON.stringify(notOffered));

/** Reads what `storeReasons` of any version has stored; null for none, and for what no version has. */
export function readReasons(bytes: Buffer | null): NotOffered | null {
  if (bytes === null) return null;
  try {
    const text = inflateRawSync(bytes, { maxOutputLength: MAX_BYTES }).toString();
    return stored.parse(JSON.parse(text));
  } catch {
    return null;
  }
}

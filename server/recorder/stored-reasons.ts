import { deflateRawSync, inflateRawSync } from "node:zlib";
import { z } from "zod";
import type { NotOffered } from "../flow/observed-step.ts";

const reasons = z.record(z.string(), z.array(z.string()));

const stored = z.object({ actions: reasons, states: reasons });

/** More than what is stored of any state. */
const MAX_BYTES = 65_536;

/** Most states are shown for a few sets of reasons: they are compressed once. */
const MAX_COMPRESSED = 1_000;

const compressed = new Map<string, Buffer>();

/** Compresses the names of reasons to some hundred bytes. Null for none. */
export function storeReasons(notOffered: NotOffered | null): Buffer | null {
  if (notOffered === null) return null;
  const text = JSON.stringify(notOffered);
  const known = compressed.get(text);
  if (known) return known;
  const bytes = deflateRawSync(text);
  const [oldest] = compressed.size >= MAX_COMPRESSED ? compressed.keys() : [];
  if (oldest !== undefined) compressed.delete(oldest);
  compressed.set(text, bytes);
  return bytes;
}

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

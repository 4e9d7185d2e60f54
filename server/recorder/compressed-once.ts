import { deflateRawSync, type ZlibOptions } from "node:zlib";

/** Compressed texts that are kept. */
const MAX_KEPT = 1_000;

/** The smallest tables: larger ones bring nothing for a few hundred bytes, and take most of the time to be made. */
const OF_SHORT_TEXTS: ZlibOptions = { memLevel: 1, windowBits: 13 };

/** Returns a function that compresses short texts (RFC 1951). Most of them are a few that come again: those are compressed once. */
export function compressedOnce(dictionary?: Buffer): (text: string) => Buffer {
  const options = dictionary ? { ...OF_SHORT_TEXTS, dictionary } : OF_SHORT_TEXTS;
  const kept = new Map<string, Buffer>();
  return (text) => {
    const known = kept.get(text);
    if (known) {
      // The one that came last stays longest.
      kept.delete(text);
      kept.set(text, known);
      return known;
    }
    const [oldest] = kept.size >= MAX_KEPT ? kept.keys() : [];
    if (oldest !== undefined) kept.delete(oldest);
    // A copy: zlib's result is a part of 16 KiB.
    const bytes = Buffer.from(deflateRawSync(text, options));
    kept.set(text, bytes);
    return bytes;
  };
}

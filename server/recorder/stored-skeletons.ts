import { inflateRawSync } from "node:zlib";
import { type StepSkeleton, stepSkeleton } from "../flow/step-skeleton.ts";
import { compressedOnce } from "./compressed-once.ts";
import { DICTIONARY_1 } from "./skeleton-dictionary.ts";
import { DIGEST_BYTES } from "./stored-settings.ts";

/**
 * What a step was decided by takes some hundred bytes of JSON, most of them names. It is stored as
 *
 *   byte 0       the number of the format
 *   bytes 1–8    the digest of the settings that it was judged by
 *   bytes 9–12   `version`, an unsigned integer
 *   bytes 13–20  `at`, a float of 64 bits: with these two outside of it, the JSON of most steps is one of a few
 *   from 21      the rest of the JSON, compressed by the dictionary of the format
 *
 * A row is read by the format that it was written in: none may be changed. That of number 1 has all of the JSON from byte 9.
 */
const PRESENT = 2;

const dictionary = Buffer.from(DICTIONARY_1);

const SETTINGS_END = 1 + DIGEST_BYTES;
const AT_OFFSET = SETTINGS_END + 4;
const HEAD_BYTES = AT_OFFSET + 8;

/** More than what is recorded of any step. */
const MAX_BYTES = 262_144;

const compressed = compressedOnce(dictionary);

export function storeSkeleton({ version, at, ...rest }: StepSkeleton, settings: Buffer): Buffer {
  const head = Buffer.allocUnsafe(HEAD_BYTES);
  head[0] = PRESENT;
  settings.copy(head, 1, 0, DIGEST_BYTES);
  head.writeUInt32BE(version, SETTINGS_END);
  head.writeDoubleBE(at, AT_OFFSET);
  return Buffer.concat([head, compressed(JSON.stringify(rest))]);
}

/** The digest of the settings that a step refers to; null if it refers to none. */
export function settingsDigest(bytes: Buffer | null): Buffer | null {
  return bytes && bytes.length > SETTINGS_END ? bytes.subarray(1, SETTINGS_END) : null;
}

/** What is stored of a step, and the digest of its settings. */
export interface StoredSkeleton {
  skeleton: StepSkeleton;
  settings: Buffer;
}

/** Reads what `storeSkeleton` of this or a former version has stored; null for what this version does not know. */
export function readSkeleton(bytes: Buffer | null): StoredSkeleton | null {
  const settings = settingsDigest(bytes);
  if (!bytes || !settings) return null;
  try {
    const told = readers[bytes[0] ?? 0]?.(bytes);
    return told === undefined ? null : { skeleton: stepSkeleton.parse(told), settings };
  } catch {
    return null;
  }
}

/** Readers of formats by their numbers. */
const readers: Record<number, (bytes: Buffer) => unknown> = {
  1: (bytes) => inflated(bytes, SETTINGS_END),
  2: (bytes) => ({
    ...inflated(bytes, HEAD_BYTES),
    version: bytes.readUInt32BE(SETTINGS_END),
    at: bytes.readDoubleBE(AT_OFFSET),
  }),
};

function inflated(bytes: Buffer, offset: number): object {
  const text = inflateRawSync(bytes.subarray(offset), { dictionary, maxOutputLength: MAX_BYTES });
  return JSON.parse(text.toString());
}

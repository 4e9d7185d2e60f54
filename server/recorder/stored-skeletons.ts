import { deflateRawSync, inflateRawSync } from "node:zlib";
import { type StepSkeleton, stepSkeleton } from "../flow/step-skeleton.ts";
import { DICTIONARY_1 } from "./skeleton-dictionary.ts";
import { DIGEST_BYTES } from "./stored-settings.ts";

/**
 * What a step was decided by takes some hundred bytes of JSON, most of them names. It is stored behind the number of a
 * dictionary that it is compressed by, and the digest of the settings that it was judged by.
 */

/** Dictionaries by their numbers. A row is read by the one that it was written by: none may be changed. */
const dictionaries: Record<number, Buffer> = { 1: Buffer.from(DICTIONARY_1) };

const PRESENT = 1;

const HEAD_BYTES = 1 + DIGEST_BYTES;

/** More than what is recorded of any step. */
const MAX_BYTES = 262_144;

export function storeSkeleton(skeleton: StepSkeleton, settings: Buffer): Buffer {
  const dictionary = dictionaries[PRESENT] as Buffer;
  const text = deflateRawSync(JSON.stringify(skeleton), { dictionary });
  return Buffer.concat([Buffer.of(PRESENT), settings, text]);
}

/** The digest of the settings that a step refers to; null if it refers to none. */
export function settingsDigest(bytes: Buffer | null): Buffer | null {
  return bytes && bytes.length > HEAD_BYTES ? bytes.subarray(1, HEAD_BYTES) : null;
}

/** What is stored of a step, and the digest of its settings. */
export interface StoredSkeleton {
  skeleton: StepSkeleton;
  settings: Buffer;
}

/** Reads what `storeSkeleton` of this or a former version has stored; null for what this version does not know. */
export function readSkeleton(bytes: Buffer | null): StoredSkeleton | null {
  const dictionary = dictionaries[bytes?.[0] ?? 0];
  if (!bytes || !dictionary || bytes.length <= HEAD_BYTES) return null;
  try {
    const text = inflateRawSync(bytes.subarray(HEAD_BYTES), { dictionary, maxOutputLength: MAX_BYTES });
    return {
      skeleton: stepSkeleton.parse(JSON.parse(text.toString())),
      settings: bytes.subarray(1, HEAD_BYTES),
    };
  } catch {
    return null;
  }
}

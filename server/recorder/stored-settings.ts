import { deflateRawSync, inflateRawSync } from "node:zlib";
import { impersonalSettings } from "../config/impersonal-settings.ts";
import type { Config } from "../config/schema.ts";
import { onceFor } from "../lib/once-for.ts";
import { sha256 } from "../lib/sha256.ts";
import { isTree, type Tree } from "../lib/tree.ts";

/** Bytes of a digest that tell the versions of the settings of one tenant apart. */
export const DIGEST_BYTES = 8;

/** More than the settings of any tenant, whose lists and words are bounded. */
const MAX_BYTES = 16 * 1024 * 1024;

/** Settings as they are stored, without secrets and personal data. */
export interface StoredSettings {
  digest: Buffer;
  settings: Buffer;
}

/** Returns what is stored of a configuration. */
export const storeSettings = onceFor((config: Config): StoredSettings => {
  const text = JSON.stringify(impersonalSettings(config));
  return { digest: sha256(text).subarray(0, DIGEST_BYTES), settings: deflateRawSync(text) };
});

/** Reads what `storeSettings` has stored; null for what no version has. */
export function readSettings(settings: Buffer): Tree | null {
  try {
    const tree: unknown = JSON.parse(inflateRawSync(settings, { maxOutputLength: MAX_BYTES }).toString());
    return isTree(tree) ? tree : null;
  } catch {
    return null;
  }
}

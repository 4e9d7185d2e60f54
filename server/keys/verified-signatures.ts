import { hash, type KeyObject } from "node:crypto";

export type VerifiedSignatures = ReturnType<typeof createVerifiedSignatures>;

interface Entry {
  /** The imported key itself: a key that is removed, or imported anew, has no entries. */
  key: KeyObject;
  expiresAt: number;
}

/** An entry takes about 250 bytes. */
const MAX_SIGNATURES = 10_000;

/**
 * Creates the cache of tokens whose signatures have been verified, so that a token that is presented again costs a digest.
 * It says that a key signed a text, and nothing else: type, audience, issuer, times and the row of a session are checked
 * each time. Texts are kept as SHA-256 digests, so that the memory of the process holds no tokens. When it is
 * full, the signature that was used least recently is forgotten.
 *
 * @param options `limit`: number of signatures; `now`: milliseconds since 1970
 */
export function createVerifiedSignatures({
  limit = MAX_SIGNATURES,
  now = Date.now,
}: {
  limit?: number;
  now?: () => number;
} = {}) {
  const entries = new Map<string, Entry>();
  const digestOf = (token: string) => hash("sha256", token, "base64url");
  return {
    /** Whether the signature of this text, by this key, has been verified. */
    has(token: string, key: KeyObject): boolean {
      const digest = digestOf(token);
      const entry = entries.get(digest);
      if (!entry) return false;
      // Put back below as the most recent one.
      entries.delete(digest);
      if (entry.key !== key || entry.expiresAt * 1000 <= now()) return false;
      entries.set(digest, entry);
      return true;
    },
    /**
     * Records a verified signature.
     *
     * @param expiresAt `exp` of the token, in seconds since 1970
     */
    add(token: string, key: KeyObject, expiresAt: number): void {
      if (expiresAt * 1000 <= now()) return;
      const [oldest] = entries.keys();
      if (oldest !== undefined && entries.size >= limit) entries.delete(oldest);
      entries.set(digestOf(token), { key, expiresAt });
    },
  };
}

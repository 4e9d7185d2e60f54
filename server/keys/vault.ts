import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
} from "node:crypto";
import { constantTimeEqual } from "../lib/constant-time-equal.ts";
import { recognizeEveryCopy } from "../lib/every-copy.ts";

/** Uses the secret keys of the configuration: seals values in the database and computes keyed hashes. */
export type Vault = ReturnType<typeof createVault>;

/**
 * Thrown for a value that was sealed by a key that is not configured. `presentedBy`: whose value it is; a client can
 * present any.
 */
export class UnknownKeyError extends Error {
  static {
    recognizeEveryCopy(UnknownKeyError, "UnknownKeyError");
  }
  readonly keyId: string;
  readonly presentedBy: "database" | "client";
  constructor(keyId: string, presentedBy: "database" | "client" = "database") {
    super(`sealed by key ${keyId}, which is not configured`);
    this.keyId = keyId;
    this.presentedBy = presentedBy;
  }
}

/** Thrown for a sealed value that was changed or belongs to another context. */
export class BrokenSealError extends Error {
  static {
    recognizeEveryCopy(BrokenSealError, "BrokenSealError");
  }
  constructor() {
    super("the sealed value is damaged or belongs to another context");
  }
}

interface Key {
  id: Buffer;
  sealing: KeyObject;
  mac: KeyObject;
  password(purpose: string): string;
}

/** version (1) | key id (8) | nonce (12) | ciphertext | tag (16) */
const VERSION = Buffer.of(1);
const KEY_ID_BYTES = 8;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const MAC_BYTES = 32;
const PREFIX_BYTES = VERSION.length + KEY_ID_BYTES;
const HEADER_BYTES = PREFIX_BYTES + NONCE_BYTES;

/** Positions of the key id in a sealed value and in a digest, for queries: first byte, counted from 1, and length. */
export const keyIdOf = {
  sealed: { start: VERSION.length + 1, length: KEY_ID_BYTES },
  digest: { start: 1, length: KEY_ID_BYTES },
} as const;

/** The length of a digest; those of earlier versions, without a key's id, are shorter. */
export const DIGEST_BYTES = KEY_ID_BYTES + MAC_BYTES;

/** Splits a digest into the id of its key and the keyed hash, which have a column each. */
export function splitDigest(digest: Buffer): { keyId: Buffer; mac: Buffer } {
  return { keyId: digest.subarray(0, -MAC_BYTES), mac: digest.subarray(-MAC_BYTES) };
}

/**
 * Creates the vault of a process.
 *
 * @param secretKeys `SECRET_KEYS` of the configuration: the first one seals, all of them unseal
 */
export function createVault(secretKeys: readonly string[]) {
  const keys = [...new Set(secretKeys)].map(deriveKey);
  const [first] = keys;
  if (!first) throw new Error("a vault needs at least one secret key");

  function keyNamed(id: Buffer): Key {
    const key = keys.find((candidate) => candidate.id.equals(id));
    if (!key) throw new UnknownKeyError(id.toString("hex"));
    return key;
  }

  return {
    /** Ids of the configured keys, in order. They are derived from the keys and reveal nothing about them. */
    keyIds: keys.map((key) => key.id.toString("hex")),

    /**
     * Encrypts and authenticates with AES-256-GCM under the first key (NIST SP 800-38D).
     *
     * @param context the kind and place of the value; unsealing requires the same
     */
    seal(plain: Buffer, context: string): Buffer {
      const name = Buffer.concat([VERSION, first.id]);
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv("aes-256-gcm", first.sealing, nonce);
      cipher.setAAD(Buffer.concat([name, Buffer.from(context)]));
      return Buffer.concat([name, nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
    },

    /**
     * @throws UnknownKeyError if the sealing key is not configured
     * @throws BrokenSealError if the value was changed, truncated, or sealed for another context
     */
    unseal(sealed: Buffer, context: string): Buffer {
      if (sealed.length < HEADER_BYTES + TAG_BYTES || sealed[0] !== VERSION[0]) throw new BrokenSealError();
      const name = sealed.subarray(0, PREFIX_BYTES);
      const key = keyNamed(name.subarray(VERSION.length));
      const nonce = sealed.subarray(PREFIX_BYTES, HEADER_BYTES);
      const decipher = createDecipheriv("aes-256-gcm", key.sealing, nonce, { authTagLength: TAG_BYTES });
      decipher.setAAD(Buffer.concat([name, Buffer.from(context)]));
      decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
      try {
        return Buffer.concat([decipher.update(sealed.subarray(HEADER_BYTES, -TAG_BYTES)), decipher.final()]);
      } catch {
        throw new BrokenSealError();
      }
    },

    /** HMAC-SHA-256 under the first key. Parts are length-prefixed, so `("ab", "c")` and `("a", "bc")` differ. */
    mac: (purpose: string, ...parts: string[]): Buffer => macUnder(first, [purpose, ...parts]),

    /** The same under every key, in order, to look up values that another key was first for. */
    macs: (purpose: string, ...parts: string[]): Buffer[] =>
      keys.map((key) => macUnder(key, [purpose, ...parts])),

    /** HMAC-SHA-256 under the first key, preceded by the key's id, to store and to compare with `matches`. */
    digest: (purpose: string, ...parts: string[]): Buffer =>
      Buffer.concat([first.id, macUnder(first, [purpose, ...parts])]),

    /**
     * Whether a stored `digest` is that of these parts, under the key it names. Constant time. Digests of earlier versions
     * name no key, and are compared under each.
     *
     * @throws UnknownKeyError if the key is not configured, so that nothing can be said
     */
    matches(stored: Buffer, purpose: string, ...parts: string[]): boolean {
      const isNamed = stored.length === DIGEST_BYTES;
      const candidates = isNamed ? [keyNamed(stored.subarray(0, KEY_ID_BYTES))] : keys;
      const mac = isNamed ? stored.subarray(KEY_ID_BYTES) : stored;
      return candidates.some((key) => constantTimeEqual(mac, macUnder(key, [purpose, ...parts])));
    },

    /**
     * Checks that the key which a stored value names is configured, without opening or comparing the value.
     *
     * @throws UnknownKeyError if it is not
     */
    assertKnown(kind: keyof typeof keyIdOf, stored: Buffer): void {
      // A digest of an earlier version names no key.
      if (kind === "digest" && stored.length !== DIGEST_BYTES) return;
      const start = keyIdOf[kind].start - 1;
      keyNamed(stored.subarray(start, start + KEY_ID_BYTES));
    },

    /**
     * Derived passwords for iron-session's password maps, each of 43 characters under an id of its key: the first key's
     * for sealing, those of all keys for unsealing, so that cookies survive a rotation.
     */
    passwords(purpose: string): Record<"sealing" | "unsealing", Record<string, string>> {
      // iron-session takes numbers as ids.
      const entries = keys.map((key) => [String(key.id.readUIntBE(0, 4)), key.password(purpose)]);
      return { sealing: Object.fromEntries(entries.slice(0, 1)), unsealing: Object.fromEntries(entries) };
    },
  };
}

/** Independent keys for each use, by HKDF-SHA-256 (RFC 5869). */
function deriveKey(secret: string): Key {
  const derive = (info: string, length: number) =>
    Buffer.from(hkdfSync("sha256", secret, "stile", info, length));
  return {
    id: derive("key id", KEY_ID_BYTES),
    // Node takes a multiple of the time for a key that it must import each time.
    sealing: createSecretKey(derive("seal", 32)),
    mac: createSecretKey(derive("mac", 32)),
    password: (purpose) => derive(`password ${purpose}`, 32).toString("base64url"),
  };
}

function macUnder(key: Key, parts: string[]): Buffer {
  const hmac = createHmac("sha256", key.mac);
  for (const part of parts) {
    const bytes = Buffer.from(part);
    const length = Buffer.alloc(4);
    length.writeUInt32BE(bytes.length);
    hmac.update(length).update(bytes);
  }
  return hmac.digest();
}

/** What seals secrets or makes keyed digests. */
export interface Sealing {
  vault: Vault;
}

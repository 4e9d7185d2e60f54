import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from "node:crypto";

/** What the secret keys of the configuration are used for: sealing what rests in the database, and keyed hashes. */
export interface Vault {
  /** Names of the configured keys, first one first. They are derived from the keys and tell nothing about them. */
  readonly keyIds: string[];
  /**
   * Encrypts and authenticates with AES-256-GCM under the first key (NIST SP 800-38D).
   *
   * @param context what the value is and where it belongs; the same must be given to open it
   */
  seal(plain: Buffer, context: string): Buffer;
  /**
   * @throws UnknownKeyError when the key that sealed is not configured
   * @throws BrokenSealError when the value was changed, cut, or sealed for another context
   */
  unseal(sealed: Buffer, context: string): Buffer;
  /** HMAC-SHA-256 under the first key. Parts are length-prefixed, so `("ab", "c")` and `("a", "bc")` differ. */
  mac(purpose: string, ...parts: string[]): Buffer;
  /** The same under every key, first one first: for looking up what was written before a rotation. */
  macs(purpose: string, ...parts: string[]): Buffer[];
  /**
   * Derived passwords for iron-session's password maps, each of 43 characters under an id of its key: the first
   * key's for sealing, everybody's for unsealing. Keys that come and go leave what others sealed readable.
   */
  passwords(purpose: string): { sealing: Record<string, string>; unsealing: Record<string, string> };
}

/** A value was sealed by a key that is not configured. */
export class UnknownKeyError extends Error {
  readonly keyId: string;
  constructor(keyId: string) {
    super(`sealed by key ${keyId}, which is not configured`);
    this.keyId = keyId;
  }
}

/** A sealed value is not what was sealed, or not for this context. */
export class BrokenSealError extends Error {
  constructor() {
    super("the sealed value is damaged or belongs elsewhere");
  }
}

interface Key {
  id: Buffer;
  sealing: Buffer;
  mac: Buffer;
  password(purpose: string): string;
}

/** version (1) | key id (8) | nonce (12) | ciphertext | tag (16) */
const version = Buffer.of(1);
const keyIdLength = 8;
const nonceLength = 12;
const tagLength = 16;
const nameLength = version.length + keyIdLength;
const headLength = nameLength + nonceLength;

/** Where a sealed value names its key, for queries: the first byte, counted from 1, and how many there are. */
export const keyIdOf = { start: version.length + 1, length: keyIdLength };

/**
 * Makes the vault of a process.
 *
 * @param secretKeys `SECRET_KEYS` of the configuration: the first one seals, all of them unseal
 */
export function createVault(secretKeys: readonly string[]): Vault {
  const keys = [...new Set(secretKeys)].map(deriveKey);
  const [first] = keys;
  if (!first) throw new Error("a vault needs at least one secret key");

  return {
    keyIds: keys.map((key) => key.id.toString("hex")),

    seal(plain, context) {
      const name = Buffer.concat([version, first.id]);
      const nonce = randomBytes(nonceLength);
      const cipher = createCipheriv("aes-256-gcm", first.sealing, nonce);
      cipher.setAAD(Buffer.concat([name, Buffer.from(context)]));
      return Buffer.concat([name, nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
    },

    unseal(sealed, context) {
      if (sealed.length < headLength + tagLength || sealed[0] !== version[0]) throw new BrokenSealError();
      const name = sealed.subarray(0, nameLength);
      const id = name.subarray(version.length);
      const key = keys.find((candidate) => candidate.id.equals(id));
      if (!key) throw new UnknownKeyError(id.toString("hex"));
      const nonce = sealed.subarray(nameLength, headLength);
      const decipher = createDecipheriv("aes-256-gcm", key.sealing, nonce, { authTagLength: tagLength });
      decipher.setAAD(Buffer.concat([name, Buffer.from(context)]));
      decipher.setAuthTag(sealed.subarray(-tagLength));
      try {
        return Buffer.concat([decipher.update(sealed.subarray(headLength, -tagLength)), decipher.final()]);
      } catch {
        throw new BrokenSealError();
      }
    },

    mac: (purpose, ...parts) => macUnder(first, [purpose, ...parts]),

    macs: (purpose, ...parts) => keys.map((key) => macUnder(key, [purpose, ...parts])),

    passwords: (purpose) => {
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
    id: derive("key id", keyIdLength),
    sealing: derive("seal", 32),
    mac: derive("mac", 32),
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

import { createCipheriv, pbkdf2, scrypt } from "node:crypto";
import { promisify } from "node:util";
import { verify as verifyBcrypt } from "@node-rs/bcrypt";
import { constantTimeEqual } from "../../lib/constant-time-equal.ts";

/** Password hashes that other systems made. Each is stored in one canonical text, which this file reads and verifies. */

/** A hash of another scheme than the server's own argon2id. */
export type ImportedHash =
  /** `text`: modular crypt format of version 2a, 2b or 2y, which are the same function. */
  | { scheme: "bcrypt"; text: string }
  | { scheme: "scrypt"; cost: ScryptCost; salt: Buffer; hash: Buffer }
  /** Firebase's: scrypt makes the key that encrypts the signer key of the project. */
  | {
      scheme: "fbscrypt";
      cost: ScryptCost;
      salt: Buffer;
      separator: Buffer;
      signerKey: Buffer;
      hash: Buffer;
    }
  | { scheme: "pbkdf2"; digest: Pbkdf2Digest; iterations: number; salt: Buffer; hash: Buffer };

/** Parameters of scrypt (RFC 7914): `ln` is the binary logarithm of N. */
export interface ScryptCost {
  ln: number;
  r: number;
  p: number;
}

export type Pbkdf2Digest = "sha1" | "sha256" | "sha512";

/**
 * The greatest costs of a hash that is imported: what one core of a usual machine computes in half a second. Memory is
 * bounded with the work, which is at least as much.
 */
const MAX_BCRYPT_COST = 13;
const MAX_SCRYPT_WORK_BYTES = 167_772_160;
const maxPbkdf2Iterations: Record<Pbkdf2Digest, number> = {
  sha1: 2_000_000,
  sha256: 2_000_000,
  sha512: 1_000_000,
};

/**
 * Former versions accepted costlier hashes. Those of up to so many times the cost are verified, and replaced at the next
 * login; a costlier one matches no password. Of scrypt, they accepted 128 * r * p * N of up to 512 MiB.
 */
const STORED_HASH_FACTOR = 2;
const STORED_SCRYPT_FACTOR = 4;

const MAX_SALT_BYTES = 256;
const MIN_HASH_BYTES = 16;
const MAX_HASH_BYTES = 128;

/** bcrypt ignores what follows. */
const MAX_BCRYPT_BYTES = 72;

const digestBytes: Record<Pbkdf2Digest, number> = { sha1: 20, sha256: 32, sha512: 64 };

export type ParsedHash =
  | { ok: true; hash: ImportedHash }
  /** `unknown`: of no scheme that is read here; `invalid`: of such a scheme, but damaged. */
  | { ok: false; reason: "unknown" | "invalid" }
  /** `limit` names the exceeded parameters with their bound. */
  | { ok: false; reason: "costly"; limit: string };

/** A hash of its scheme, or null if its parameters are invalid. */
type Reader = (groups: Record<string, string | undefined>) => ImportedHash | null;

/** The texts that are read, by their scheme. The first of each scheme is the canonical one. */
const formats: readonly (readonly [RegExp, Reader])[] = [
  [
    /^(?:bcrypt\$)?(?<text>\$2[aby]\$\d\d\$[./A-Za-z0-9]{53})$/,
    ({ text = "" }) => ({ scheme: "bcrypt", text }),
  ],
  // The PHC string format.
  [
    /^\$scrypt\$ln=(?<ln>\d{1,2}),r=(?<r>\d{1,4}),p=(?<p>\d{1,4})\$(?<salt>[^$]*)\$(?<hash>[^$]+)$/,
    (found) => scryptHash(found, base64(found.salt), base64(found.hash)),
  ],
  // Werkzeug: N in full, the salt as text, the hash in hexadecimal.
  [
    /^scrypt:(?<n>\d{1,8}):(?<r>\d{1,4}):(?<p>\d{1,4})\$(?<salt>[^$]*)\$(?<hash>[0-9a-f]+)$/,
    (found) => {
      const ln = Math.log2(Number(found.n));
      return Number.isInteger(ln)
        ? scryptHash({ ...found, ln: String(ln) }, text(found.salt), hex(found.hash))
        : null;
    },
  ],
  // Supabase Auth writes Firebase's hashes so.
  [
    /^\$fbscrypt\$v=1,n=(?<ln>\d{1,2}),r=(?<r>\d{1,4}),p=(?<p>\d{1,4})(?:,ss=(?<separator>[^,$]*))?,sk=(?<key>[^,$]+)\$(?<salt>[^$]*)\$(?<hash>[^$]+)$/,
    (found) => {
      const separator = base64(found.separator ?? "");
      const signerKey = base64(found.key);
      const plain = scryptHash(found, base64(found.salt), base64(found.hash));
      if (!separator || !signerKey || plain?.scheme !== "scrypt") return null;
      return signerKey.length === plain.hash.length
        ? { ...plain, scheme: "fbscrypt", separator, signerKey }
        : null;
    },
  ],
  // The PHC string format, passlib's, and both without a name for SHA-1.
  [
    /^\$pbkdf2(?:-(?<digest>sha1|sha256|sha512))?\$(?:i=)?(?<iterations>\d{1,9})(?:,l=\d{1,3})?\$(?<salt>[^$]*)\$(?<hash>[^$]+)$/,
    (found) => pbkdf2Hash(found, base64(found.salt), base64(found.hash)),
  ],
  // Django: the salt as text, the hash in base64; Clerk and Flask: in hexadecimal.
  [
    /^pbkdf2[_:](?<digest>sha1|sha256|sha512)[$:](?<iterations>\d{1,9})\$(?<salt>[^$]*)\$(?<hash>[^$]+)$/,
    (found) => pbkdf2Hash(found, text(found.salt), hexOfDigest(found) ?? base64(found.hash)),
  ],
];

/**
 * Reads the hash of a password from the text that another system wrote.
 *
 * @param stored for example `$2b$12$…`, `$scrypt$ln=15,r=8,p=1$…`, `$fbscrypt$v=1,n=14,r=8,p=1,ss=…,sk=…$…`,
 *   `$pbkdf2-sha256$i=600000$…`, `pbkdf2_sha256$600000$…`
 * @param origin `import` admits half a second of one core; `storage` more, for hashes that former versions imported
 */
export function parseImportedHash(stored: string, origin: "import" | "storage"): ParsedHash {
  for (const [pattern, read] of formats) {
    const found = pattern.exec(stored);
    if (!found) continue;
    const hash = read(found.groups ?? {});
    if (!hash || !isWellFormed(hash)) return { ok: false, reason: "invalid" };
    const { share, limit } = costOf(hash);
    const isAffordable = share <= (origin === "storage" ? storedFactorOf(hash) : 1);
    return isAffordable ? { ok: true, hash } : { ok: false, reason: "costly", limit };
  }
  return { ok: false, reason: "unknown" };
}

function storedFactorOf({ scheme }: ImportedHash): number {
  return scheme === "scrypt" || scheme === "fbscrypt" ? STORED_SCRYPT_FACTOR : STORED_HASH_FACTOR;
}

/** The canonical text of a hash, which is stored. `parseImportedHash` reads it. */
export function importedHashText(hash: ImportedHash): string {
  if (hash.scheme === "bcrypt") return hash.text;
  const body = `${bare(hash.salt)}$${bare(hash.hash)}`;
  if (hash.scheme === "pbkdf2") return `$pbkdf2-${hash.digest}$i=${hash.iterations}$${body}`;
  const { ln, r, p } = hash.cost;
  if (hash.scheme === "scrypt") return `$scrypt$ln=${ln},r=${r},p=${p}$${body}`;
  const separator = hash.separator.length > 0 ? `,ss=${bare(hash.separator)}` : "";
  return `$fbscrypt$v=1,n=${ln},r=${r},p=${p}${separator},sk=${bare(hash.signerKey)}$${body}`;
}

const derivePbkdf2 = promisify(pbkdf2);
const deriveScrypt = (password: string, salt: Buffer, size: number, { ln, r, p }: ScryptCost) =>
  new Promise<Buffer>((resolve, reject) => {
    // Node counts some memory beside that of the algorithm, which is less than the work.
    const maxmem = 2 * STORED_SCRYPT_FACTOR * MAX_SCRYPT_WORK_BYTES;
    const options = { N: 2 ** ln, r, p, maxmem };
    scrypt(password, salt, size, options, (error, key) => (error ? reject(error) : resolve(key)));
  });

/**
 * Verifies a password, in the bytes that the user entered, by one task of libuv's thread pool.
 *
 * @returns `whole`: whether the hash covers the whole password, so that the password may replace it. bcrypt covers 72
 *   bytes; what follows is unproven
 */
export async function verifyImportedHash(
  hash: ImportedHash,
  password: string,
): Promise<{ ok: boolean; whole: boolean }> {
  if (hash.scheme === "bcrypt") {
    const whole = Buffer.byteLength(password) <= MAX_BCRYPT_BYTES;
    return { ok: await verifyBcrypt(password, hash.text), whole };
  }
  return { ok: constantTimeEqual(await derived(hash, password), hash.hash), whole: true };
}

async function derived(hash: Exclude<ImportedHash, { scheme: "bcrypt" }>, password: string): Promise<Buffer> {
  if (hash.scheme === "pbkdf2")
    return derivePbkdf2(password, hash.salt, hash.iterations, hash.hash.length, hash.digest);
  if (hash.scheme === "scrypt") return deriveScrypt(password, hash.salt, hash.hash.length, hash.cost);
  const key = await deriveScrypt(password, Buffer.concat([hash.salt, hash.separator]), 32, hash.cost);
  return createCipheriv("aes-256-ctr", key, Buffer.alloc(16)).update(hash.signerKey);
}

function isWellFormed(hash: ImportedHash): boolean {
  if (hash.scheme === "bcrypt") return Number(hash.text.slice(4, 6)) >= 4;
  const { length } = hash.hash;
  if (hash.salt.length > MAX_SALT_BYTES || length < MIN_HASH_BYTES || length > MAX_HASH_BYTES) return false;
  if (hash.scheme === "pbkdf2") return hash.iterations >= 1;
  const { ln, r, p } = hash.cost;
  // RFC 7914 section 2.
  return ln >= 1 && ln < 16 * r && r >= 1 && p >= 1;
}

/**
 * The cost of a hash.
 *
 * @returns `share`: the part of the greatest cost of an import; `limit`: the parameters that decide it, with their bound
 */
function costOf(hash: ImportedHash): { share: number; limit: string } {
  if (hash.scheme === "bcrypt") {
    const cost = Number(hash.text.slice(4, 6));
    return {
      share: 2 ** (cost - MAX_BCRYPT_COST),
      limit: `the cost of bcrypt is at most ${MAX_BCRYPT_COST}`,
    };
  }
  if (hash.scheme === "pbkdf2") {
    // Each block of the output costs all iterations (RFC 8018 section 5.2).
    const blocks = Math.ceil(hash.hash.length / digestBytes[hash.digest]);
    const limit = maxPbkdf2Iterations[hash.digest];
    return {
      share: (hash.iterations * blocks) / limit,
      limit: `iterations times blocks of PBKDF2 with ${hash.digest} are at most ${limit}`,
    };
  }
  const { ln, r, p } = hash.cost;
  // PBKDF2 makes and reads the p blocks of 128 · r bytes, which takes as long as four rounds of mixing (RFC 7914, 6).
  return {
    share: (128 * r * p * (2 ** ln + 4)) / MAX_SCRYPT_WORK_BYTES,
    limit: `128 * r * p * (N + 4) of scrypt is at most ${MAX_SCRYPT_WORK_BYTES}`,
  };
}

function scryptHash(
  { ln, r, p }: Record<string, string | undefined>,
  salt: Buffer | null,
  hash: Buffer | null,
): ImportedHash | null {
  if (!salt || !hash) return null;
  return { scheme: "scrypt", cost: { ln: Number(ln), r: Number(r), p: Number(p) }, salt, hash };
}

function pbkdf2Hash(
  { digest = "sha1", iterations }: Record<string, string | undefined>,
  salt: Buffer | null,
  hash: Buffer | null,
): ImportedHash | null {
  if (!salt || !hash) return null;
  return { scheme: "pbkdf2", digest: digest as Pbkdf2Digest, iterations: Number(iterations), salt, hash };
}

/** The bytes of a hash in hexadecimal; null if the text has not the length of the digest. */
function hexOfDigest({ digest, hash = "" }: Record<string, string | undefined>): Buffer | null {
  return hash.length === 2 * digestBytes[digest as Pbkdf2Digest] ? hex(hash) : null;
}

function hex(given = ""): Buffer | null {
  return /^(?:[0-9a-f]{2})+$/i.test(given) ? Buffer.from(given, "hex") : null;
}

function text(given = ""): Buffer {
  return Buffer.from(given);
}

/** Decodes base64 and base64url with or without padding, and passlib's variant with `.` for `+`. */
function base64(given = ""): Buffer | null {
  if (!/^[A-Za-z0-9+/._-]*={0,2}$/.test(given)) return null;
  return Buffer.from(given.replaceAll(".", "+"), "base64");
}

/** Base64 without padding, as in PHC strings. */
function bare(bytes: Buffer): string {
  return bytes.toString("base64").replace(/=+$/, "");
}

import { createHash, generateKeyPairSync } from "node:crypto";
import { once } from "node:events";

/**
 * Writes generated users as lines of JSON, for measuring `stile users import` and `stile users export`:
 * `node scripts/run.js bench/users.ts 1000000 > users.jsonl`. The same count gives the same users, keys apart.
 */

const count = Number(process.argv[2] ?? 1_000_000);

/** Bytes that depend on a name alone. */
const bytesOf = (name: string, size: number) =>
  createHash("shake256", { outputLength: size }).update(name).digest();

function uuidOf(name: string): string {
  const bytes = bytesOf(name, 16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

/** A COSE_Key of algorithm ES256 (RFC 9053 section 7.1.1). */
function coseKey(): string {
  const { x = "", y = "" } = generateKeyPairSync("ec", { namedCurve: "P-256" }).publicKey.export({
    format: "jwk",
  });
  const parts = ["a5010203262001215820", "225820"].map((part) => Buffer.from(part, "hex"));
  const [head, middle] = parts as [Buffer, Buffer];
  return Buffer.concat([head, Buffer.from(x, "base64url"), middle, Buffer.from(y, "base64url")]).toString(
    "base64url",
  );
}

const keys = Array.from({ length: 64 }, coseKey);
const base32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/** bcrypt for two of three, argon2id and PBKDF2 for the others. */
function hashOf(index: number): string {
  const base64 = (size: number) => bytesOf(`hash ${index}`, size).toString("base64").replace(/=+$/, "");
  if (index % 6 === 0) return `$argon2id$v=19$m=19456,t=2,p=1$${base64(16)}$${base64(32)}`;
  if (index % 6 === 1) return `$pbkdf2-sha256$i=600000$${base64(16)}$${base64(32)}`;
  return `$2b$12$${base64(40).replaceAll("+", ".").slice(0, 53)}`;
}

function userOf(index: number) {
  const created = new Date(1_500_000_000_000 + index * 200_000).toISOString();
  return {
    id: uuidOf(`user ${index}`),
    name: `Person ${index}`,
    emails: [{ address: `person${index}@example.com`, is_primary: true, is_verified: index % 5 !== 0 }],
    ...(index % 3 === 0 ? { username: `person_${index}` } : {}),
    password_hash: hashOf(index),
    public_metadata: { plan: index % 7 === 0 ? "gold" : "free", number: index },
    ...(index % 4 === 0
      ? { identities: [{ provider: "google", subject: String(index), email: `person${index}@example.com` }] }
      : {}),
    ...(index % 5 === 0
      ? {
          totp: {
            secret: [...bytesOf(`totp ${index}`, 32)].map((byte) => base32[byte % 32]).join(""),
          },
        }
      : {}),
    ...(index % 10 === 0
      ? {
          passkeys: [
            {
              id: bytesOf(`passkey ${index}`, 32).toString("base64url"),
              public_key: keys[index % keys.length],
              user_handle: bytesOf(`handle ${index}`, 28).toString("base64url"),
              transports: ["internal", "hybrid"],
              backup_eligible: true,
              backup_state: true,
            },
          ],
        }
      : {}),
    created_at: created,
  };
}

let page: string[] = [];
for (let index = 0; index < count; index += 1) {
  page.push(JSON.stringify(userOf(index)));
  if (page.length < 1_000 && index < count - 1) continue;
  if (!process.stdout.write(`${page.join("\n")}\n`)) await once(process.stdout, "drain");
  page = [];
}

import { createHash } from "node:crypto";
import { once } from "node:events";
import { toBase32 } from "../server/testing/authenticator-app.ts";
import { coseAlgorithms, makeKey } from "../server/testing/cose-key.ts";

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

const keys = Array.from({ length: 64 }, () => makeKey(coseAlgorithms.ES256).cose.toString("base64url"));

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
    ...(index % 5 === 0 ? { totp: { secret: toBase32(bytesOf(`totp ${index}`, 20)) } } : {}),
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

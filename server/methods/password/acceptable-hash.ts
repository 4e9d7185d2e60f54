import type { Config } from "../../config/schema.ts";
import { importedHashText, parseImportedHash } from "./imported-hashes.ts";
import { argon2Cost, createPasswordHasher } from "./password-hasher.ts";

export type AcceptableHash =
  /** `stored`: the canonical text of the hash. */
  | { ok: true; stored: string }
  /** `reason` says in words what is wrong, without parts of the hash. */
  | { ok: false; reason: string };

const argon2 =
  /^(pepper:[A-Za-z0-9_-]+)?\$argon2(?:id|i|d)\$v=19\$m=(\d{1,7}),t=(\d{1,2}),p=(\d{1,2})\$[A-Za-z0-9+/]{11,86}\$[A-Za-z0-9+/]{22,86}$/;

/** Limits of the cost of an argon2 hash from elsewhere: 256 MiB, and half a second of one core of a usual machine. */
const MAX_MEMORY_KIB = 262_144;
const MAX_KIB_PASSES = 1_048_576;
const MAX_PASSES = 64;
const MAX_LANES = 16;

const rejections = {
  unknown: "is of no scheme that this server verifies: argon2, bcrypt, scrypt, PBKDF2",
  invalid: "has invalid parameters",
};

const costly = (limit: string) => `exceeds the cost that this server allows: ${limit}`;

/**
 * Creates the check of password hashes from elsewhere.
 *
 * @returns a function that decides whether this server can verify a hash, within bounded time and memory
 */
export async function acceptableHashes(
  config: Config["password"],
): Promise<(hash: string) => AcceptableHash> {
  // The hasher prefixes a hash with the name of its pepper.
  const ownPepper =
    config.pepper === undefined ? "" : (await createPasswordHasher(config).hash("")).split("$", 1)[0];
  // What this server is configured to spend itself is affordable.
  const maxMemory = Math.max(MAX_MEMORY_KIB, config.hash.memory);
  const maxWork = Math.max(MAX_KIB_PASSES, config.hash.memory * config.hash.passes);

  const argon2Rejection = (hash: string): string | null => {
    const [, pepper, ...numbers] = argon2.exec(hash) ?? [];
    const [memory = 0, passes = 0, lanes = 0] = numbers.map(Number);
    if (numbers.length === 0 || memory < 8 * lanes || passes < 1 || lanes < 1) return rejections.invalid;
    // Numbers and base64 that are not canonical are an error of the function that verifies.
    if (argon2Cost(hash.slice(pepper?.length ?? 0)) === null) return rejections.invalid;
    if (pepper !== undefined && pepper !== ownPepper) return "was created with another pepper";
    if (memory > maxMemory) return costly(`m of argon2 is at most ${maxMemory}`);
    if (memory * passes > maxWork) return costly(`m times t of argon2 is at most ${maxWork}`);
    if (passes > MAX_PASSES) return costly(`t of argon2 is at most ${MAX_PASSES}`);
    return lanes > MAX_LANES ? costly(`p of argon2 is at most ${MAX_LANES}`) : null;
  };

  return (hash) => {
    if (/^(?:pepper:[^$]*)?\$argon2/.test(hash)) {
      const reason = argon2Rejection(hash);
      return reason === null ? { ok: true, stored: hash } : { ok: false, reason };
    }
    const parsed = parseImportedHash(hash, "import");
    if (parsed.ok) return { ok: true, stored: importedHashText(parsed.hash) };
    const reason = parsed.reason === "costly" ? costly(parsed.limit) : rejections[parsed.reason];
    return { ok: false, reason };
  };
}

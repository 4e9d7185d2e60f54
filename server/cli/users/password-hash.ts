import type { Config } from "../../config/schema.ts";
import { createPasswordHasher } from "../../credentials/password-hasher.ts";
import { LineError } from "./line.ts";

const argon2id =
  /^(pepper:[A-Za-z0-9_-]+)?\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,2}),p=(\d{1,2})\$[A-Za-z0-9+/]{11,86}\$[A-Za-z0-9+/]{22,86}$/;

/** Limits of the cost of a hash, which are those of the configuration. */
const MAX_MEMORY_KIB = 1_048_576;
const MAX_PASSES = 16;
const MAX_LANES = 16;

/**
 * Creates the check of imported password hashes.
 *
 * @returns a function that throws a LineError for a hash that this server cannot verify
 */
export async function passwordHashCheck(config: Config["password"]): Promise<(hash: string) => void> {
  // The hasher prefixes a hash with the name of its pepper.
  const ownPepper =
    config.pepper === undefined ? "" : (await createPasswordHasher(config).hash("")).split("$", 1)[0];
  return (hash) => {
    const [, pepper, memory, passes, lanes] = argon2id.exec(hash) ?? [];
    if (memory === undefined) {
      throw new LineError("password_hash is not argon2id: omit it to let the user choose a new password");
    }
    if (pepper !== undefined && pepper !== ownPepper)
      throw new LineError("password_hash was created with another pepper");
    if (Number(memory) > MAX_MEMORY_KIB || Number(passes) > MAX_PASSES || Number(lanes) > MAX_LANES)
      throw new LineError("password_hash exceeds the cost that this server allows");
    if (Number(memory) < 8 * Number(lanes) || Number(passes) < 1 || Number(lanes) < 1)
      throw new LineError("password_hash has invalid argon2id parameters");
  };
}

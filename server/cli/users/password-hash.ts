import type { Config } from "../../config/schema.ts";
import { createPasswordHasher } from "../../credentials/password-hasher.ts";
import { LineError } from "./line.ts";

const argon2id =
  /^(pepper:[A-Za-z0-9_-]+)?\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,2}),p=(\d{1,2})\$[A-Za-z0-9+/]{11,86}\$[A-Za-z0-9+/]{22,86}$/;

/** Bounds of what one sign-in may cost: those of the configuration. */
const most = { memory: 1_048_576, passes: 16, lanes: 16 };

/**
 * Makes the check of imported password hashes: only those pass that this server can compare passwords with.
 *
 * @returns throws LineError for any other
 */
export async function passwordHashCheck(config: Config["password"]): Promise<(hash: string) => void> {
  // What the hasher puts in front of a hash names its pepper.
  const ours =
    config.pepper === undefined ? "" : (await createPasswordHasher(config).hash("")).split("$", 1)[0];
  return (hash) => {
    const [, pepper, memory, passes, lanes] = argon2id.exec(hash) ?? [];
    if (memory === undefined) {
      throw new LineError(
        "password_hash is not argon2id: leave it out, and the person chooses a new password",
      );
    }
    if (pepper !== undefined && pepper !== ours)
      throw new LineError("password_hash was made with another pepper than this server's");
    if (Number(memory) > most.memory || Number(passes) > most.passes || Number(lanes) > most.lanes)
      throw new LineError("password_hash costs more than this server spends on a sign-in");
    if (Number(memory) < 8 * Number(lanes) || Number(passes) < 1 || Number(lanes) < 1)
      throw new LineError("password_hash has parameters that argon2id does not allow");
  };
}

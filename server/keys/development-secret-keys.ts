import { randomBytes } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { StartError } from "../config/errors.ts";

/**
 * The secret key of a development installation without configured keys: generated once and stored in the data folder,
 * readable by its owner only. Production does not start without configured keys.
 *
 * @param dataDir created if it does not exist
 * @throws StartError if the file cannot be read or written
 */
export function developmentSecretKeys(dataDir: string): string[] {
  const file = join(/* turbopackIgnore: true */ dataDir, "secret-keys");
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o711 });
    try {
      writeFileSync(file, randomBytes(32).toString("base64url"), { mode: 0o600, flag: "wx" });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
    const keys = readFileSync(file, "utf8").trim().split(",").filter(Boolean);
    if (keys.length > 0) return keys;
  } catch (error) {
    throw new StartError(
      `the secret key of this installation cannot be stored in ${file}: ${(error as Error).message}`,
    );
  }
  throw new StartError(`${file} is empty; sealed secrets cannot be unsealed without the key it contained`);
}

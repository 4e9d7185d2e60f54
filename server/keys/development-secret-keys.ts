import { randomBytes } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { StartError } from "../config/errors.ts";

/**
 * The key that seals secrets where none is configured: made once, kept in the data folder, readable by its owner
 * alone. Production is refused without configured keys before this is asked.
 *
 * @param dataDir made when absent
 * @throws StartError when the file cannot be read or written
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
      `the secret of this installation cannot be kept in ${file}: ${(error as Error).message}`,
    );
  }
  throw new StartError(`${file} is empty; without what was in it, sealed secrets cannot be opened`);
}

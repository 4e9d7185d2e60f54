import type { Config } from "../config/schema.ts";
import { developmentSecretKeys } from "./development-secret-keys.ts";

/**
 * The secret keys: those of the configuration, or in development a generated one.
 *
 * @throws StartError if the generated one cannot be stored
 */
export function secretKeys(config: Config): string[] {
  return config.secret_keys.length > 0 ? config.secret_keys : developmentSecretKeys(config.data_dir);
}

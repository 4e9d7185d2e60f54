import type { Config } from "../config/schema.ts";
import { developmentSecretKeys } from "./development-secret-keys.ts";

/**
 * The keys that seal: those of the configuration, or in development one that was made up and kept.
 *
 * @throws StartError when the made-up one cannot be kept
 */
export function secretKeys(config: Config): string[] {
  return config.secret_keys.length > 0 ? config.secret_keys : developmentSecretKeys(config.data_dir);
}

import type { Config } from "../config/schema.ts";

/** An organisation with its own users, keys and settings. */
export interface Tenant {
  id: string;
  config: Config;
}

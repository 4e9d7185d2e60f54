import type { Config } from "./schema.ts";

/** An organisation with its own users, keys and settings. */
export interface Tenant {
  id: string;
  config: Config;
}

import { z } from "zod";
import { merge } from "../config/load.ts";
import { configSchema } from "../config/schema.ts";
import type { Vault } from "../keys/vault.ts";
import { isSettings, type Settings } from "./tenant-config.ts";

/** A tenant's settings as they rest: what is a secret by the schema is sealed, everything else can be read. */
export interface RestingSettings {
  config: Settings;
  sealedConfig: Buffer | null;
}

/** What the seal of a tenant's secrets is bound to. */
export const settingsContext = (tenantId: string) => `tenants/${tenantId}/config`;

/** Takes the secrets, which `configSchema` marks, out of a tree of settings, and seals them. */
export function sealSettings(vault: Vault, tenantId: string, settings: Settings): RestingSettings {
  const schema = z.toJSONSchema(configSchema, { io: "input" }) as Schema;
  const { open, secret } = split(schema, settings);
  const sealedConfig =
    secret === undefined ? null : vault.seal(Buffer.from(JSON.stringify(secret)), settingsContext(tenantId));
  return { config: isSettings(open) ? open : {}, sealedConfig };
}

/**
 * Puts the settings together again.
 *
 * @throws UnknownKeyError when the key that sealed is not configured
 */
export function openSettings(vault: Vault, tenantId: string, resting: RestingSettings): Settings {
  if (resting.sealedConfig === null) return resting.config;
  const secret = JSON.parse(vault.unseal(resting.sealedConfig, settingsContext(tenantId)).toString());
  return merge(resting.config, secret as Settings);
}

interface Schema {
  secret?: boolean;
  properties?: Record<string, Schema>;
  /** Of a record, which takes any name. */
  additionalProperties?: Schema | boolean;
}

/** The two halves of a value; a half with nothing in it is undefined. */
function split(schema: Schema, value: unknown): { open?: unknown; secret?: unknown } {
  if (schema.secret) return { secret: value };
  if (!isSettings(value)) return { open: value };
  const open: Settings = {};
  const secret: Settings = {};
  for (const [name, child] of Object.entries(value)) {
    const halves = split(schemaOf(schema, name), child);
    if (halves.open !== undefined) open[name] = halves.open;
    if (halves.secret !== undefined) secret[name] = halves.secret;
  }
  return { open, ...(Object.keys(secret).length > 0 ? { secret } : {}) };
}

function schemaOf({ properties, additionalProperties }: Schema, name: string): Schema {
  const named = properties?.[name];
  if (named) return named;
  return typeof additionalProperties === "object" ? additionalProperties : {};
}

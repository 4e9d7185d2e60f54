import { z } from "zod";
import { sealContext } from "#db/schema/table";
import { tenants } from "#db/schema/tenants";
import { merge } from "../config/load.ts";
import { configSchema } from "../config/schema.ts";
import type { Vault } from "../keys/vault.ts";
import { isSettings, type Settings } from "./tenant-config.ts";

/** A tenant's settings as stored: secrets, which the schema marks, are sealed; the others are plain. */
export interface StoredSettings {
  config: Settings;
  sealedConfig: Buffer | null;
}

const contextOf = (id: string) => sealContext(tenants, "sealedConfig", { id });

/** Separates the secrets, which `configSchema` marks, from a tree of settings, and seals them. */
export function sealSettings(vault: Vault, tenantId: string, settings: Settings): StoredSettings {
  const schema = z.toJSONSchema(configSchema, { io: "input" }) as Schema;
  const { plain, secret } = split(schema, settings);
  const sealedConfig =
    secret === undefined ? null : vault.seal(Buffer.from(JSON.stringify(secret)), contextOf(tenantId));
  return { config: isSettings(plain) ? plain : {}, sealedConfig };
}

/**
 * Unseals the secrets of stored settings and merges them in.
 *
 * @throws UnknownKeyError if the key that sealed them is not configured
 */
export function openSettings(vault: Vault, tenantId: string, stored: StoredSettings): Settings {
  if (stored.sealedConfig === null) return stored.config;
  const secret = JSON.parse(vault.unseal(stored.sealedConfig, contextOf(tenantId)).toString());
  return merge(stored.config, secret as Settings);
}

interface Schema {
  secret?: boolean;
  properties?: Record<string, Schema>;
  /** Schema of the members of a record. */
  additionalProperties?: Schema | boolean;
}

/** Splits a value into its plain and its secret part; an empty part is undefined. */
function split(schema: Schema, value: unknown): { plain?: unknown; secret?: unknown } {
  if (schema.secret) return { secret: value };
  if (!isSettings(value)) return { plain: value };
  const plain: Settings = {};
  const secret: Settings = {};
  for (const [name, child] of Object.entries(value)) {
    const parts = split(schemaOf(schema, name), child);
    if (parts.plain !== undefined) plain[name] = parts.plain;
    if (parts.secret !== undefined) secret[name] = parts.secret;
  }
  return { plain, ...(Object.keys(secret).length > 0 ? { secret } : {}) };
}

function schemaOf({ properties, additionalProperties }: Schema, name: string): Schema {
  const named = properties?.[name];
  if (named) return named;
  return typeof additionalProperties === "object" ? additionalProperties : {};
}

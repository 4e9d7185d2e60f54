import { sealContext } from "#db/schema/table";
import { tenants } from "#db/schema/tenants";
import { type SettingSchema, settingSchema } from "../config/setting-schema.ts";
import type { Vault } from "../keys/vault.ts";
import { isTree, merge, type Tree } from "../lib/tree.ts";

/** A tenant's settings as stored: secrets, which the schema marks, are sealed; the others are plain. */
export interface StoredSettings {
  config: Tree;
  sealedConfig: Buffer | null;
}

const contextOf = (id: string) => sealContext(tenants, "sealedConfig", { id });

/** Separates the secrets, which `configSchema` marks, from a tree of settings, and seals them. */
export function sealSettings(vault: Vault, tenantId: string, settings: Tree): StoredSettings {
  const { plain, secret } = split(settingSchema(), settings);
  const sealedConfig =
    secret === undefined ? null : vault.seal(Buffer.from(JSON.stringify(secret)), contextOf(tenantId));
  return { config: isTree(plain) ? plain : {}, sealedConfig };
}

/**
 * Unseals the secrets of stored settings and merges them in.
 *
 * @throws UnknownKeyError if the key that sealed them is not configured
 */
export function openSettings(vault: Vault, tenantId: string, stored: StoredSettings): Tree {
  if (stored.sealedConfig === null) return stored.config;
  const secret = JSON.parse(vault.unseal(stored.sealedConfig, contextOf(tenantId)).toString());
  return merge(stored.config, secret as Tree);
}

/** Splits a value into its plain and its secret part; an empty part is undefined. */
function split(schema: SettingSchema, value: unknown): { plain?: unknown; secret?: unknown } {
  if (schema.secret) return { secret: value };
  if (!isTree(value)) return { plain: value };
  const plain: Tree = {};
  const secret: Tree = {};
  for (const [name, child] of Object.entries(value)) {
    const parts = split(schemaOf(schema, name), child);
    if (parts.plain !== undefined) plain[name] = parts.plain;
    if (parts.secret !== undefined) secret[name] = parts.secret;
  }
  return { plain, ...(Object.keys(secret).length > 0 ? { secret } : {}) };
}

function schemaOf({ properties, additionalProperties }: SettingSchema, name: string): SettingSchema {
  const named = properties?.[name];
  if (named) return named;
  return typeof additionalProperties === "object" ? additionalProperties : {};
}

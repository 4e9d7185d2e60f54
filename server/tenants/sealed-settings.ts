import { sealContext } from "#db/schema/table";
import { settingsHistory, tenants } from "#db/schema/tenants";
import { type SettingSchema, settingSchema } from "../config/setting-schema.ts";
import type { Vault } from "../keys/vault.ts";
import { isTree, merge, type Tree } from "../lib/tree.ts";

/** A tenant's settings as stored: secrets, which the schema marks, are sealed, and what it does not know; the others are plain. */
export interface StoredSettings {
  config: Tree;
  sealedConfig: Buffer | null;
}

const contextOf = (id: string) => sealContext(tenants, "sealedConfig", { id });

/** Separates the secrets, which `configSchema` marks, from a tree of settings, and seals them. */
export function sealSettings(vault: Vault, tenantId: string, settings: Tree): StoredSettings {
  return seal(vault, settings, contextOf(tenantId));
}

/**
 * Unseals the secrets of stored settings and merges them in.
 *
 * @throws UnknownKeyError if the key that sealed them is not configured
 */
export function openSettings(vault: Vault, tenantId: string, stored: StoredSettings): Tree {
  return open(vault, stored, contextOf(tenantId));
}

/** Seals a version of a tenant's settings, as `sealSettings` does. */
export function sealVersion(vault: Vault, tenantId: string, id: string, settings: Tree): StoredSettings {
  return seal(vault, settings, contextOfVersion(tenantId, id));
}

/** Unseals a version of a tenant's settings, as `openSettings` does. */
export function openVersion(vault: Vault, tenantId: string, id: string, stored: StoredSettings): Tree {
  return open(vault, stored, contextOfVersion(tenantId, id));
}

const contextOfVersion = (tenantId: string, id: string) =>
  sealContext(settingsHistory, "sealedConfig", { tenantId, id });

/**
 * Separates the secrets, which `configSchema` marks, from a tree of settings. What this version does not know counts as one: a
 * later version may have sealed it.
 */
export function separateSecrets(settings: Tree): { plain: Tree; secret: Tree } {
  const { plain, secret } = split(settingSchema(), settings);
  return { plain: isTree(plain) ? plain : {}, secret: isTree(secret) ? secret : {} };
}

function seal(vault: Vault, settings: Tree, context: string): StoredSettings {
  const { plain, secret } = separateSecrets(settings);
  const isEmpty = Object.keys(secret).length === 0;
  return {
    config: plain,
    sealedConfig: isEmpty ? null : vault.seal(Buffer.from(JSON.stringify(secret)), context),
  };
}

function open(vault: Vault, { config, sealedConfig }: StoredSettings, context: string): Tree {
  if (sealedConfig === null) return config;
  return merge(config, JSON.parse(vault.unseal(sealedConfig, context).toString()) as Tree);
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
  if (typeof additionalProperties === "object") return additionalProperties;
  return additionalProperties === false ? { secret: true } : {};
}

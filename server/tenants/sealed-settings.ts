import { sealContext } from "#db/schema/table";
import { settingsHistory, tenants } from "#db/schema/tenants";
import { type SettingSchema, schemaOf, settingSchema } from "../config/setting-schema.ts";
import type { Vault } from "../keys/vault.ts";
import { isTree, merge, type Tree, valueAt, withValueAt } from "../lib/tree.ts";

/** A tenant's settings as stored: secrets, which the schema marks, are sealed, the others plain. */
export interface StoredSettings {
  config: Tree;
  sealedConfig: Buffer | null;
}

const contextOf = (id: string) => sealContext(tenants, "sealedConfig", { id });

/**
 * Separates the secrets from a tree of settings, as `separateSecrets` does, and seals them.
 *
 * @param sealedBefore the sealed part of the settings before
 */
export function sealSettings(
  vault: Vault,
  tenantId: string,
  settings: Tree,
  sealedBefore: Tree,
): StoredSettings {
  return seal(vault, separateSecrets(settings, sealedBefore), contextOf(tenantId));
}

/**
 * Unseals the secrets of stored settings and merges them in.
 *
 * @throws UnknownKeyError if the key that sealed them is not configured
 */
export function openSettings(vault: Vault, tenantId: string, stored: StoredSettings): Tree {
  return open(vault, stored, contextOf(tenantId));
}

/**
 * Unseals the sealed part of stored settings alone.
 *
 * @throws as `openSettings` does
 */
export function openSealed(
  vault: Vault,
  tenantId: string,
  { sealedConfig }: Pick<StoredSettings, "sealedConfig">,
): Tree {
  return openSettings(vault, tenantId, { config: {}, sealedConfig });
}

/** Seals a version of a tenant's settings, as `sealSettings` does. */
export function sealVersion(
  vault: Vault,
  tenantId: string,
  id: string,
  settings: Tree,
  sealedBefore: Tree,
): StoredSettings {
  return seal(vault, separateSecrets(settings, sealedBefore), contextOfVersion(tenantId, id));
}

/** Unseals a version of a tenant's settings, as `openSettings` does. */
export function openVersion(vault: Vault, tenantId: string, id: string, stored: StoredSettings): Tree {
  return open(vault, stored, contextOfVersion(tenantId, id));
}

const contextOfVersion = (tenantId: string, id: string) =>
  sealContext(settingsHistory, "sealedConfig", { tenantId, id });

/**
 * Separates the secrets, which `configSchema` marks, from a tree of settings. What was sealed before stays one: a later
 * version may hold a secret there, whether this one knows the setting or not. What this version does not know is otherwise
 * plain, as the version that knows it has stored it.
 *
 * @param sealedBefore the sealed part of the settings as stored
 */
export function separateSecrets(settings: Tree, sealedBefore: Tree): { plain: Tree; secret: Tree } {
  const { plain, secret } = split(settingSchema(), settings, sealedBefore);
  return { plain: isTree(plain) ? plain : {}, secret: isTree(secret) ? secret : {} };
}

/**
 * Returns the members at a path of a tree of settings without the secrets, and the names of those that are secret or hold one.
 *
 * @param sealedBefore as for `separateSecrets`
 */
export function membersToTell(
  settings: Tree,
  path: readonly string[],
  sealedBefore: Tree,
): { settings: Tree; secrets: string[] } {
  const { plain, secret } = separateSecrets(
    withValueAt({}, path, valueAt(settings, path) ?? {}),
    sealedBefore,
  );
  const [told, kept] = [plain, secret].map((part) => valueAt(part, path));
  return { settings: isTree(told) ? told : {}, secrets: isTree(kept) ? Object.keys(kept) : [] };
}

function seal(
  vault: Vault,
  { plain, secret }: { plain: Tree; secret: Tree },
  context: string,
): StoredSettings {
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
function split(
  schema: SettingSchema,
  value: unknown,
  sealed: unknown,
): { plain?: unknown; secret?: unknown } {
  const wasSealed = sealed !== undefined && !(isTree(sealed) && isTree(value));
  if (schema.secret || wasSealed) return { secret: value };
  if (!isTree(value)) return { plain: value };
  const members = Object.entries(value).map(
    ([name, child]) => [name, split(schemaOf(schema, name), child, valueAt(sealed, [name]))] as const,
  );
  const having = (kind: "plain" | "secret") =>
    members.flatMap(([name, { [kind]: part }]) => (part === undefined ? [] : [[name, part] as const]));
  const secret = having("secret");
  return {
    plain: Object.fromEntries(having("plain")),
    ...(secret.length > 0 ? { secret: Object.fromEntries(secret) } : {}),
  };
}

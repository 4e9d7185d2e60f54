import { configLeaves } from "../config/load.ts";
import type { Config, Configured, SettingSource } from "../config/schema.ts";
import { type SettingBounds, settingBounds } from "../config/setting-bounds.ts";
import type { Sealing } from "../keys/vault.ts";
import { type Tree, valueAt } from "../lib/tree.ts";
import type { ReadTenant } from "./manage-tenants.ts";
import { isOperatorSetting } from "./operator-settings.ts";
import { openSealed, openSettings, separateSecrets } from "./sealed-settings.ts";
import { isInherited, isServerSetting } from "./tenant-config.ts";
import { withoutUnknown } from "./unknown-settings.ts";

/** Who may set a setting: the configuration of the server alone, the operator for a tenant, or a tenant for itself. */
export const setters = ["server", "operator", "tenant"] as const;

type Setter = (typeof setters)[number];

/** Where the value in force comes from. `derived`: from the name or the address of the tenant. */
export const settingSources = ["default", "file", "environment", "platform", "tenant", "derived"] as const;

type Source = (typeof settingSources)[number] | SettingSource;

/** A setting with its meaning, its bounds, and its value in force for a tenant. */
export interface ListedSetting {
  /** Names of its sections and its own. */
  path: readonly string[];
  /** The variable of the environment that sets it for the server. */
  variable: string;
  description: string;
  default: unknown;
  /** Its bounds, and those of the values in it. */
  bounds: (SettingBounds & { setBy: Setter })[];
  setBy: Setter;
  /** It, or a value in it, is a secret. */
  secret: boolean;
  /** Whether the tenant or the server has set it. */
  source: Source;
  /** Without secrets; undefined if it has no other value, or the reader may not know it. */
  value: unknown;
}

/**
 * Lists every setting, derived from the schema of the configuration, with the value in force for a tenant.
 *
 * @param context `isDefault`: whether it is the tenant of the server's configuration; `isOperator`: whether the reader may
 *   know the settings of the server that no tenant sets
 * @throws UnknownKeyError if the key that sealed the tenant's secrets is not configured
 */
export function listSettings(
  {
    vault,
    config: server,
    isDefault,
    isOperator,
  }: Sealing & Configured & { isDefault: boolean; isOperator: boolean },
  { row, tenant, ignored }: ReadTenant,
): ListedSetting[] {
  const config = (tenant?.config ?? {}) as Tree;
  const own = isDefault ? {} : withoutUnknown(openSettings(vault, row.id, row), ignored);
  const shown = separateSecrets(config, isDefault ? {} : openSealed(vault, row.id, row)).plain;
  const bounds = settingBounds();
  return configLeaves().map(({ path, variable, description, default: value, secret }) => {
    const within = bounds.filter((one) => path.every((name, position) => one.path[position] === name));
    const isOfServer = isServerSetting(path);
    return {
      path,
      variable,
      description,
      default: value,
      bounds: within.map((one) => ({ ...one, setBy: setterOf(one.path) })),
      setBy: setterOf(path),
      secret,
      source: sourceOf(path, { own, server, isDefault }),
      value: isOfServer && !isOperator ? undefined : valueAt(shown, path),
    };
  });
}

function setterOf(path: readonly string[]): Setter {
  if (isServerSetting(path)) return "server";
  return isOperatorSetting(path) ? "operator" : "tenant";
}

/** Settings of a tenant that are made of its name and its address. */
const derived = ["base_url", "service.name"];

function sourceOf(
  path: string[],
  { own, server, isDefault }: { own: Tree; server: Config; isDefault: boolean },
): Source {
  const name = path.join(".");
  if (valueAt(own, path) !== undefined) return "tenant";
  if (!isDefault && derived.includes(name)) return "derived";
  return (isDefault || isInherited(path) ? server.sources[name] : undefined) ?? "default";
}

import { thirdParty } from "../config/sections/identity-providers.ts";
import { mergePatch } from "../identity/metadata.ts";
import { subtree, type Tree, withValueAt } from "../lib/tree.ts";
import {
  type ManagementContext,
  type Party,
  type TenantChange,
  TenantError,
  updateTenant,
} from "./manage-tenants.ts";
import { membersToTell } from "./sealed-settings.ts";
import { settingsToTell } from "./settings-to-tell.ts";

/**
 * The OAuth and OpenID Connect providers of a tenant: the built-in ones, which always exist, and its own, whose ids
 * begin with `custom_`. They are `third_party.providers` and `third_party.custom_providers` of its settings.
 */

/** A provider with its settings. Of secrets only their names are told. */
export interface OAuthProvider {
  id: string;
  custom: boolean;
  enabled: boolean;
  settings: Tree;
  secrets: string[];
}

/** Judges a change in its transaction, as that of `updateTenant` is. */
type Conditions = Pick<TenantChange, "judge">;

const builtIn = Object.keys(thirdParty.unwrap().shape.providers.unwrap().shape);

const CUSTOM = "custom_";

/**
 * Lists the built-in providers, then the tenant's own.
 *
 * @throws TenantError if the tenant does not exist
 */
export async function listOAuthProviders(
  context: ManagementContext,
  tenantId: string,
): Promise<OAuthProvider[]> {
  const { settings, sealed } = await settingsToTell(context, tenantId);
  const own = Object.keys(subtree(settings.third_party, "custom_providers"));
  return [...builtIn, ...own.map((key) => CUSTOM + key)].map((id) => describe(id, settings, sealed));
}

/**
 * Applies a JSON Merge Patch to a provider, or creates one of the tenant's own.
 *
 * @param change `create`: whether it must not exist yet, else it must
 * @throws TenantError and ConfigError as `updateTenant` does; TenantError with `not_found` or `conflict`
 */
export async function changeOAuthProvider(
  context: ManagementContext,
  tenantId: string,
  id: string,
  { patch, create = false, ...conditions }: { patch: Tree; create?: boolean } & Conditions,
  by: Party,
): Promise<OAuthProvider> {
  const place = placeOf(id);
  await changeProviders(context, tenantId, { ...place, ...conditions }, by, (providers) => {
    const known = Object.hasOwn(providers, place.key);
    if (create && known) throw new TenantError(`there is a provider ${id} already`, "conflict");
    if (!create && !known && place.section === "custom_providers") throw unknownProvider();
    return { ...providers, [place.key]: mergePatch(providers[place.key] ?? {}, patch) };
  });
  const { settings, sealed } = await settingsToTell(context, tenantId);
  return describe(id, settings, sealed);
}

/**
 * Deletes a provider of the tenant's own, or all settings of a built-in one, which is then off.
 *
 * @throws TenantError as `changeOAuthProvider` does
 */
export async function deleteOAuthProvider(
  context: ManagementContext,
  tenantId: string,
  id: string,
  conditions: Conditions,
  by: Party,
): Promise<void> {
  const { section, key } = placeOf(id);
  await changeProviders(context, tenantId, { section, ...conditions }, by, (providers) => {
    if (section === "custom_providers" && !Object.hasOwn(providers, key)) throw unknownProvider();
    const { [key]: _, ...others } = providers;
    return others;
  });
}

/**
 * Returns settings with a provider changed and enabled, to be tried without being saved. A provider that does not exist is added.
 *
 * @param patch a JSON Merge Patch of its settings
 * @throws TenantError if there is no such built-in provider
 */
export function withOAuthProvider(current: Tree, id: string, patch: Tree): Tree {
  const { section, key } = placeOf(id);
  const providers = subtree(current.third_party, section);
  const changed = mergePatch(providers[key] ?? {}, { ...patch, enabled: true });
  return withValueAt(current, ["third_party", section], { ...providers, [key]: changed });
}

async function changeProviders(
  context: ManagementContext,
  tenantId: string,
  { section, judge }: { section: "providers" | "custom_providers" } & Conditions,
  by: Party,
  change: (providers: Tree) => Tree,
): Promise<void> {
  const settings = (current: Tree): Tree =>
    withValueAt(current, ["third_party", section], change(subtree(current.third_party, section)));
  await updateTenant(context, tenantId, { settings, ...(judge ? { judge } : {}) }, by);
}

function placeOf(id: string): { section: "providers" | "custom_providers"; key: string } {
  if (id.startsWith(CUSTOM)) return { section: "custom_providers", key: id.slice(CUSTOM.length) };
  if (!builtIn.some((known) => known === id)) throw unknownProvider();
  return { section: "providers", key: id };
}

const unknownProvider = () => new TenantError("there is no such provider", "not_found");

const pathOf = ({ section, key }: ReturnType<typeof placeOf>) => ["third_party", section, key];

/** @param sealed the sealed part of the settings as stored */
function describe(id: string, all: Tree, sealed: Tree): OAuthProvider {
  const place = placeOf(id);
  const custom = place.section === "custom_providers";
  const { settings, secrets } = membersToTell(all, pathOf(place), sealed);
  return {
    id,
    custom,
    enabled: typeof settings.enabled === "boolean" ? settings.enabled : custom,
    settings,
    secrets,
  };
}

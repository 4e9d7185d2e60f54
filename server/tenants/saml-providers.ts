import type { z } from "zod";
import { samlProviderSettings } from "../config/sections/identity-providers.ts";
import { mergePatch } from "../identity/metadata.ts";
import { parseMember } from "../lib/parse-member.ts";
import { isTree, subtree, type Tree, valueAt } from "../lib/tree.ts";
import {
  existingTenant,
  type ManagementContext,
  type Party,
  type TenantChange,
  TenantError,
  updateTenant,
} from "./manage-tenants.ts";
import { domainsOf, samlProviderId } from "./saml-provider-id.ts";
import { settingsToTell } from "./settings-to-tell.ts";

/** The SAML providers of a tenant. They are a list in its settings, `saml.identity_providers`. */

/** A provider as the settings hold it. */
export type SamlProvider = z.input<typeof samlProviderSettings>;
export type StoredSamlProvider = SamlProvider & { id: string };

/** Judges a change in its transaction, as that of `updateTenant` is. */
type Conditions = Pick<TenantChange, "judge">;

const disabled = "SAML is off: saml.enabled is false";

/**
 * Lists the providers in their order.
 *
 * @throws TenantError if the tenant does not exist, or SAML is off
 */
export async function listSamlProviders(
  context: ManagementContext,
  tenantId: string,
): Promise<StoredSamlProvider[]> {
  const found = await existingTenant(context, tenantId);
  if (!found.tenant?.config.saml.enabled) throw new TenantError(disabled, "forbidden");
  return toldProviders(context, tenantId);
}

/** The providers without what a later version may hold for a secret: members that this one does not know, or the whole list. */
async function toldProviders(context: ManagementContext, tenantId: string): Promise<StoredSamlProvider[]> {
  const { settings, sealed } = await settingsToTell(context, tenantId);
  const isSealed = valueAt(sealed, ["saml", "identity_providers"]) !== undefined;
  const isTold = (name: string) =>
    isSealed ? name === "id" || name === "name" : Object.hasOwn(samlProviderSettings.shape, name);
  return samlProvidersIn(settings).map(
    (provider) =>
      Object.fromEntries(Object.entries(provider).filter(([name]) => isTold(name))) as StoredSamlProvider,
  );
}

/**
 * Adds a provider.
 *
 * @throws TenantError and ConfigError as `updateTenant` does; TenantError with `conflict` for a domain, entity id or
 *   metadata address of another provider
 */
export async function createSamlProvider(
  context: ManagementContext,
  tenantId: string,
  provider: SamlProvider,
  conditions: Conditions,
  by: Party,
): Promise<StoredSamlProvider> {
  const id = context.platform.uuid();
  await changeProviders(context, tenantId, conditions, by, (all) => [...all, { ...provider, id }]);
  return pick(await toldProviders(context, tenantId), id).found;
}

/**
 * Replaces or patches a provider.
 *
 * @param about `change`: returns the new settings for the present ones
 * @throws as `createSamlProvider` does; TenantError with `not_found` if there is no such provider
 */
export async function changeSamlProvider(
  context: ManagementContext,
  tenantId: string,
  id: string,
  { change, ...conditions }: { change: (current: SamlProvider) => SamlProvider } & Conditions,
  by: Party,
): Promise<StoredSamlProvider> {
  await changeProviders(context, tenantId, conditions, by, (all) => {
    const { found, others } = pick(all, id);
    return others.toSpliced(all.indexOf(found), 0, { ...change(found), id });
  });
  return pick(await toldProviders(context, tenantId), id).found;
}

/** @throws as `changeSamlProvider` does */
export async function deleteSamlProvider(
  context: ManagementContext,
  tenantId: string,
  id: string,
  conditions: Conditions,
  by: Party,
): Promise<void> {
  await changeProviders(context, tenantId, conditions, by, (all) => pick(all, id).others);
}

/**
 * Applies a JSON Merge Patch to a provider.
 *
 * @throws TenantError that names the invalid member
 */
export function patchedSamlProvider(current: SamlProvider, patch: Tree): SamlProvider {
  const parsed = parseMember(samlProviderSettings, mergePatch(current, patch), "the provider");
  if (!parsed.ok) throw new TenantError(parsed.details);
  return parsed.value;
}

/**
 * Returns settings with a provider changed and enabled, to be tried without being saved.
 *
 * @param id that of the provider; null for a new one
 * @param patch a JSON Merge Patch of its settings
 * @returns also the id of the provider in these settings
 * @throws TenantError if there is no such provider, SAML is off, or the id, domain or metadata is that of another one
 */
export function withSamlProvider(
  current: Tree,
  id: string | null,
  patch: Tree,
): { settings: Tree; id: string } {
  const saml = subtree(current, "saml");
  if (saml.enabled !== true) throw new TenantError(disabled, "forbidden");
  const all = samlProvidersIn(current);
  const found = id === null ? null : pick(all, id).found;
  const tried = {
    ...patchedSamlProvider(found ?? ({} as SamlProvider), { ...patch, enabled: true }),
    id: id ?? NEW_PROVIDER,
  };
  const providers = found ? all.toSpliced(all.indexOf(found), 1, tried) : [...all, tried];
  rejectDuplicates(providers);
  return { settings: { ...current, saml: { ...saml, identity_providers: providers } }, id: tried.id };
}

/** The nil UUID (RFC 9562, 5.9). */
const NEW_PROVIDER = "00000000-0000-0000-0000-000000000000";

function pick(all: StoredSamlProvider[], id: string) {
  const found = all.find((provider) => provider.id === id);
  if (!found) throw new TenantError("there is no such provider", "not_found");
  return { found, others: all.filter((provider) => provider !== found) };
}

async function changeProviders(
  context: ManagementContext,
  tenantId: string,
  { judge }: Conditions,
  by: Party,
  change: (all: StoredSamlProvider[]) => StoredSamlProvider[],
): Promise<void> {
  const settings = (current: Tree): Tree => {
    const saml = subtree(current, "saml");
    if (saml.enabled !== true) throw new TenantError(disabled, "forbidden");
    const providers = change(samlProvidersIn(current));
    rejectDuplicates(providers);
    return { ...current, saml: { ...saml, identity_providers: providers } };
  };
  await updateTenant(context, tenantId, { settings, ...(judge ? { judge } : {}) }, by);
}

/**
 * The providers in the settings of a tenant, each with its id.
 *
 * @throws TenantError if the settings have something else there
 */
export function samlProvidersIn({ saml }: Tree): StoredSamlProvider[] {
  const { identity_providers: all = [] } = (saml ?? {}) as { identity_providers?: unknown };
  if (!Array.isArray(all) || !all.every(isTree))
    throw new TenantError("saml.identity_providers is not a list of providers");
  return (all as SamlProvider[]).map((provider) => ({ ...provider, id: samlProviderId(provider) }));
}

function rejectDuplicates(providers: SamlProvider[]): void {
  const identifiers = {
    "mail domain": providers.flatMap((provider) => [...new Set(domainsOf(provider))]),
    "entity id": providers.flatMap(({ entity_id }) => entity_id ?? []),
    "metadata address": providers.flatMap(({ metadata_url }) => metadata_url ?? []),
  };
  for (const [what, values] of Object.entries(identifiers))
    if (new Set(values).size < values.length)
      throw new TenantError(`another SAML provider has this ${what}`, "conflict");
}

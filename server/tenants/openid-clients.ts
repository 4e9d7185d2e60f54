import { mergePatch } from "../identity/metadata.ts";
import { randomToken } from "../lib/random-token.ts";
import { subtree, type Tree, withValueAt } from "../lib/tree.ts";
import { type ManagementContext, type Party, TenantError, updateTenant } from "./manage-tenants.ts";
import { membersToTell } from "./sealed-settings.ts";
import { settingsToTell } from "./settings-to-tell.ts";

/** The clients of a tenant's OpenID provider: `openid.clients` of its settings. */

/** A client with its settings. Of its secret only that it is set is told. */
export interface OpenidClient {
  id: string;
  settings: Tree;
  secrets: string[];
}

const SECRET = "secret";

/** Ids of new clients. */
export const openidClientId = /^[A-Za-z0-9][A-Za-z0-9._~-]{0,63}$/;

/** @throws TenantError if the tenant does not exist */
export async function listOpenidClients(
  context: ManagementContext,
  tenantId: string,
): Promise<OpenidClient[]> {
  const { settings, sealed } = await settingsToTell(context, tenantId);
  return Object.keys(subtree(settings.openid, "clients")).map((id) => describe(id, settings, sealed));
}

/**
 * Applies a JSON Merge Patch to a client, or creates one.
 *
 * @param change `create`: whether it must not exist yet, else it must
 * @throws TenantError and ConfigError as `updateTenant` does; TenantError with `not_found` or `conflict`
 */
export async function changeOpenidClient(
  context: ManagementContext,
  tenantId: string,
  id: string,
  { patch, create = false }: { patch: Tree; create?: boolean },
  by?: Party,
): Promise<OpenidClient> {
  await changeClients(context, tenantId, by, (clients) => {
    const known = Object.hasOwn(clients, id);
    if (create && !openidClientId.test(id)) throw new TenantError("this is not a client id");
    if (create && known) throw new TenantError(`there is a client ${id} already`, "conflict");
    if (!create && !known) throw unknownClient();
    return { ...clients, [id]: mergePatch(clients[id] ?? {}, patch) };
  });
  const { settings, sealed } = await settingsToTell(context, tenantId);
  return describe(id, settings, sealed);
}

/**
 * Gives a client a new secret. The former one authenticates it no more.
 *
 * @returns the secret, which is stored sealed and cannot be read again
 * @throws TenantError as `changeOpenidClient` does
 */
export async function renewOpenidSecret(
  context: ManagementContext,
  tenantId: string,
  id: string,
  by?: Party,
): Promise<{ secret: string }> {
  const secret = randomToken(context.platform);
  await changeOpenidClient(context, tenantId, id, { patch: { [SECRET]: secret } }, by);
  return { secret };
}

/** @throws TenantError as `changeOpenidClient` does */
export async function deleteOpenidClient(
  context: ManagementContext,
  tenantId: string,
  id: string,
  by?: Party,
): Promise<void> {
  await changeClients(context, tenantId, by, (clients) => {
    if (!Object.hasOwn(clients, id)) throw unknownClient();
    const { [id]: _, ...others } = clients;
    return others;
  });
}

async function changeClients(
  context: ManagementContext,
  tenantId: string,
  by: Party | undefined,
  change: (clients: Tree) => Tree,
): Promise<void> {
  const settings = (current: Tree): Tree =>
    withValueAt(current, ["openid", "clients"], change(subtree(current.openid, "clients")));
  await updateTenant(context, tenantId, { settings }, by);
}

const unknownClient = () => new TenantError("there is no such client", "not_found");

/** @param sealed the sealed part of the settings as stored */
function describe(id: string, settings: Tree, sealed: Tree): OpenidClient {
  return { id, ...membersToTell(settings, ["openid", "clients", id], sealed) };
}

import type { Databases } from "#db/client";
import type { TenantContext } from "../context/context.ts";
import type { Sealing } from "../keys/vault.ts";
import type { OnPlatform } from "../lib/platform.ts";
import { isOwn } from "./grants.ts";
import { knownDocument } from "./metadata-documents.ts";
import { knownRegistration } from "./registered-clients.ts";
import { originOf } from "./unlisted-clients.ts";

/**
 * The origins of the redirect addresses of a client that is not the operator's own.
 *
 * @returns none for a client of the operator, and for one that is not known any more
 */
export async function originsOfClient(
  context: TenantContext<Databases & Sealing & OnPlatform>,
  clientId: string,
): Promise<string[]> {
  if (isOwn(context, clientId)) return [];
  return originsOf(await redirectAddresses(context, clientId));
}

/** The origins of redirect addresses: the pages of a client there read what it is answered (Fetch standard, 3.3). */
export const originsOf = (addresses: readonly string[]): string[] =>
  addresses.flatMap((address) => URL.parse(address)?.origin ?? []);

async function redirectAddresses(
  context: TenantContext<Databases & Sealing & OnPlatform>,
  clientId: string,
): Promise<readonly string[]> {
  const { openid } = context.tenant.config;
  const origin = originOf(context.tenant.config, clientId);
  if (origin === "listed") return openid.clients[clientId]?.redirect_uris ?? [];
  const known =
    origin && (await (origin === "document" ? knownDocument : knownRegistration)(context, clientId));
  return known?.description.redirect_uris ?? [];
}

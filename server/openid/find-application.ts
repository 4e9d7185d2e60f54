import type { Databases } from "#db/client";
import type { TenantContext } from "../context/context.ts";
import type { Sealing } from "../keys/vault.ts";
import type { OnPlatform } from "../lib/platform.ts";
import { type Application, applicationOf, listedApplication } from "./application.ts";
import { knownDocument } from "./metadata-documents.ts";
import { knownRegistration } from "./registered-clients.ts";
import { originOf } from "./unlisted-clients.ts";

/** Finds what users are told of an application; null if there is none of this client id, any more. */
export async function findApplication(
  context: TenantContext<Databases & Sealing & OnPlatform>,
  clientId: string,
): Promise<Application | null> {
  const { config } = context.tenant;
  const origin = originOf(config, clientId);
  if (origin === "listed" || origin === null) return listedApplication(config, clientId);
  const known = await (origin === "document" ? knownDocument : knownRegistration)(context, clientId);
  if (!known) return null;
  const { client_name, client_uri, policy_uri, tos_uri, redirect_uris } = known.description;
  // A link under a name that nothing verifies leads to no host but its own (RFC 7591, 5).
  const hosts = (origin === "document" ? [clientId] : redirect_uris).map(webHost);
  const own = (address: string | undefined) =>
    address !== undefined && hosts.includes(webHost(address)) ? address : undefined;
  const name = client_name || (webHost(clientId) ?? clientId);
  return applicationOf({
    name,
    uri: own(client_uri),
    policy_uri: own(policy_uri),
    tos_uri: own(tos_uri),
    origin,
  });
}

/** The host of an address by https; null for any other. */
function webHost(address: string): string | null {
  const url = URL.parse(address);
  return url?.protocol === "https:" ? url.host : null;
}

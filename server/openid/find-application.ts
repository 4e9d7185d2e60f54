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
  const { client_name, client_uri: uri, policy_uri, tos_uri } = known.description;
  const name = client_name || (origin === "document" ? new URL(clientId).host : clientId);
  return applicationOf({ name, uri, policy_uri, tos_uri, origin });
}

import { ownOrigin } from "../config/own-hosts.ts";
import type { Config } from "../config/schema.ts";
import { type AuthenticatorMetadata, authenticatorMetadata } from "./uaf/metadata.ts";

/** What a tenant is to authenticators: FIDO AppID and Facet Specification 1.1, section 3. */
export interface Application {
  /** As authenticators show it. */
  name: string;
  /** Address of a picture; empty for none. */
  icon: string;
  appId: string;
  /** Who may act for the AppID: our own origin, and what the tenant lists. */
  facets: string[];
  /** Models that may register and answer. */
  accepted: AuthenticatorMetadata[];
}

export function applicationOf({ authenticator, service, base_url }: Config): Application {
  const { name = service.name, icon = "", facets, accepted } = authenticator;
  const appId = authenticator.app_id ?? `${base_url}/authenticator/facets`;
  // An AppID that is no address of a list is the one facet it is for.
  const single = /^https?:/.test(appId) ? [] : [appId];
  return {
    name,
    icon,
    appId,
    facets: [...new Set([ownOrigin({ base_url }), ...facets, ...single])],
    accepted: accepted.map(authenticatorMetadata),
  };
}

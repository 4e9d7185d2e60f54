import { ownOrigin } from "../config/own-hosts.ts";
import type { Config } from "../config/schema.ts";
import type { ChannelBindingPolicy } from "./uaf/channel-binding.ts";
import { type AuthenticatorMetadata, authenticatorMetadata } from "./uaf/metadata.ts";

/** A tenant as an application of FIDO UAF (FIDO AppID and Facet Specification 1.1, section 3). */
export interface UafApplication {
  /** Shown by authenticators. */
  name: string;
  /** URL of a picture; empty for none. */
  icon: string;
  appId: string;
  /** Trusted facets: our own origin, and those that the tenant configures. */
  facets: string[];
  /** Accepted models. */
  accepted: AuthenticatorMetadata[];
  channelBinding: ChannelBindingPolicy;
}

export function applicationOf({ authenticator, service, base_url }: Config): UafApplication {
  const { name = service.name, icon = "", facets, accepted, tls_certificates: certificates } = authenticator;
  const appId = authenticator.app_id ?? `${base_url}/authenticator/facets`;
  // An AppID that is not the URL of a facet list is itself the only facet.
  const single = /^https?:/.test(appId) ? [] : [appId];
  return {
    name,
    icon,
    appId,
    facets: [...new Set([ownOrigin({ base_url }), ...facets, ...single])],
    accepted: accepted.map(authenticatorMetadata),
    channelBinding: { mode: authenticator.channel_binding, certificates },
  };
}

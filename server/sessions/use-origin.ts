import { maskAddress } from "../audit/mask.ts";
import type { RequestContext } from "../context/context.ts";
import { storableUserAgent } from "../lib/storable-text.ts";

/**
 * The browser and the network of a request, as they are stored with the use of a credential, so that its owner
 * recognizes the use. Null where the settings of sessions say that they are not stored.
 */
export function originOf({ tenant, client }: Pick<RequestContext<unknown>, "tenant" | "client">): {
  userAgent: string | null;
  ipAddress: string | null;
} {
  const { acquire_user_agent, acquire_ip_address } = tenant.config.session;
  return {
    userAgent: acquire_user_agent ? storableUserAgent(client.userAgent) : null,
    ipAddress: acquire_ip_address && client.ip !== null ? maskAddress(client.ip) : null,
  };
}

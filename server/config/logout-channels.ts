import type { Config } from "./schema.ts";

/** How a listed client is told that a session has ended: by a request of this service, or by a frame in the user's browser. */
export type LogoutChannel = "backchannel_logout_uri" | "frontchannel_logout_uri";

/** Returns the address at which a listed client is told; null if it is not told by this channel. */
export function logoutAddress(
  { openid }: Pick<Config, "openid">,
  clientId: string,
  channel: LogoutChannel,
): string | null {
  const client = Object.hasOwn(openid.clients, clientId) ? openid.clients[clientId] : undefined;
  return client?.[channel] ?? null;
}

/** Returns the listed clients that are told by a channel; none while the provider is off. */
export function clientsToldBy({ openid }: Pick<Config, "openid">, channel: LogoutChannel): string[] {
  if (!openid.enabled) return [];
  return Object.keys(openid.clients).filter((id) => logoutAddress({ openid }, id, channel) !== null);
}

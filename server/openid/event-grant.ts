import type { Config } from "../config/schema.ts";
import type { EventGrant } from "../events/emit.ts";
import { applicationName } from "./application.ts";
import { type Permissions, permissions } from "./waiting-authorization.ts";

/** What an event says that a user has allowed an application. */
export function eventGrant(
  config: Config,
  {
    userId,
    clientId,
    described,
    allowed,
  }: Record<"userId" | "clientId", string> & { described: unknown; allowed: unknown },
): EventGrant {
  const { scopes, claims, resources } = permissions.safeParse(allowed).data ?? noPermissions;
  return {
    user_id: userId,
    client_id: clientId,
    client_name: applicationName(config, clientId, described),
    scopes,
    claims,
    resources,
  };
}

const noPermissions: Permissions = { scopes: [], claims: [], resources: {} };

import type { Account } from "../account/account.ts";
import type { Config } from "../config/schema.ts";
import { sha256 } from "../lib/sha256.ts";
import { openidPaths } from "../openid/paths.ts";
import { permissions, scopesIn, type WaitingAuthorization } from "../openid/waiting-authorization.ts";
import type { FlowData } from "./data.ts";
import type { View } from "./define.ts";
import type { AuthorizationPayload } from "./wire.ts";

/**
 * What `consent` shows: who asks for what, and what was allowed before.
 */
export function authorizationPayload({ data, config }: View): { authorization?: AuthorizationPayload } {
  const { authorization } = data;
  if (!authorization) return {};
  const { clientId, host, asked, allowed } = authorization;
  const { clients } = config.openid;
  const client = Object.hasOwn(clients, clientId) ? clients[clientId] : undefined;
  const resources = Object.entries(asked.resources).map(([address, scopes]) => ({ address, scopes }));
  return {
    authorization: {
      client: {
        id: clientId,
        name: nameOf(clients, clientId),
        ...(client?.client_uri ? { uri: client.client_uri } : {}),
        ...(client?.policy_uri ? { policy_uri: client.policy_uri } : {}),
        ...(client?.tos_uri ? { tos_uri: client.tos_uri } : {}),
      },
      host,
      scopes: scopesIn(asked),
      resources,
      allowed: allowed ? scopesIn(allowed) : [],
    },
  };
}

/**
 * The member `applications` of the payload of the account page, where the service is an OpenID provider: what the user has
 * signed in to, and what each may know. The operator's own need no consent, and have no scopes.
 */
export function applicationsPayload({ belongings }: Account, { openid }: Config) {
  if (!openid.enabled) return {};
  return {
    applications: belongings.applications.map(({ id, allowed, since }) => ({
      id,
      name: nameOf(openid.clients, id),
      scopes: allowed === null ? [] : scopesIn(permissions.parse(allowed)),
      since,
    })),
  };
}

/** A client that is not configured any more has its id. */
const nameOf = (clients: Config["openid"]["clients"], id: string) =>
  (Object.hasOwn(clients, id) ? clients[id]?.name : undefined) ?? id;

/** Names what is asked, and of whom. */
export function questionOf({ authorization, userId }: FlowData): string {
  return authorization ? sha256(`${authorization.request} ${userId}`).toString("base64url") : "";
}

/** The address at which the browser returns to the request. */
export function resumeAddress({ base_url }: Config, { request }: WaitingAuthorization): string {
  return `${base_url}${openidPaths.authorization}/${encodeURIComponent(request)}`;
}

import type { Account } from "../account/account.ts";
import type { Config } from "../config/schema.ts";
import { sha256 } from "../lib/sha256.ts";
import { applicationName, listedApplication } from "../openid/application.ts";
import { openidPaths } from "../openid/paths.ts";
import { scopesIn } from "../openid/scopes-of-users.ts";
import { permissions, type WaitingAuthorization } from "../openid/waiting-authorization.ts";
import type { FlowData } from "./data.ts";
import type { View } from "./define.ts";
import type { AuthorizationPayload } from "./wire.ts";

/**
 * What `consent` shows: who asks for what, and what was allowed before.
 */
export function authorizationPayload({ data, config }: View): { authorization?: AuthorizationPayload } {
  const { authorization } = data;
  if (!authorization) return {};
  const { clientId, host, asked, allowed, lifetime, device } = authorization;
  const { name, uri, policy_uri, tos_uri, origin } = authorization.application ??
    listedApplication(config, clientId) ?? { name: clientId, origin: "listed" };
  const scopes = scopesIn(config, asked);
  const resources = Object.entries(asked.resources).map(([address, scopes]) =>
    describedApi(config, address, scopes),
  );
  return {
    authorization: {
      client: {
        id: clientId,
        name,
        ...(uri ? { uri } : {}),
        ...(policy_uri ? { policy_uri } : {}),
        ...(tos_uri ? { tos_uri } : {}),
        origin,
      },
      host,
      scopes,
      ...textsOfOwnScopes(config, scopes),
      resources,
      allowed: allowed ? scopesIn(config, allowed) : [],
      ...(lifetime === undefined ? {} : { lifetime }),
      ...(device ? { device } : {}),
    },
  };
}

/** An API as users are asked about it. */
function describedApi({ openid }: Config, address: string, scopes: string[]) {
  const { name, texts = {} } = openid.resources[address] ?? {};
  return { address, scopes, ...(name === undefined ? {} : { name }), ...textsOf(texts, scopes) };
}

/** What the operator's own scopes about users allow, in plain words. */
const textsOfOwnScopes = ({ openid }: Config, scopes: readonly string[]) =>
  textsOf(
    Object.fromEntries(Object.entries(openid.scopes).map(([scope, { texts }]) => [scope, texts])),
    scopes,
  );

/** The texts of some scopes, by scope and language; nothing where there are none. */
function textsOf(texts: Record<string, Record<string, string>>, scopes: readonly string[]) {
  const known = Object.entries(texts).filter(
    ([scope, ofScope]) => scopes.includes(scope) && Object.keys(ofScope).length > 0,
  );
  return known.length > 0 ? { texts: Object.fromEntries(known) } : {};
}

/**
 * The member `applications` of the payload of the account page, where the service is an OpenID provider: what the user has
 * signed in to, and what each may know. The operator's own need no consent, and have no scopes.
 */
export function applicationsPayload({ belongings }: Account, config: Config) {
  if (!config.openid.enabled) return {};
  return {
    applications: belongings.applications.map(({ id, application: described, allowed, since }) => {
      const scopes = allowed === null ? [] : scopesIn(config, permissions.parse(allowed));
      const name = applicationName(config, id, described);
      return { id, name, scopes, ...textsOfOwnScopes(config, scopes), since };
    }),
  };
}

/** Names what is asked, and of whom. */
export function questionOf({ authorization, userId }: FlowData): string {
  return authorization ? sha256(`${authorization.request} ${userId}`).toString("base64url") : "";
}

/** The address at which the browser returns to the request. */
export function resumeAddress(
  { base_url }: Config,
  { request }: Pick<WaitingAuthorization, "request">,
): string {
  return `${base_url}${openidPaths.authorization}/${encodeURIComponent(request)}`;
}

/** The address at which users enter the codes of devices. */
export const deviceAddress = ({ base_url }: Config): string => `${base_url}${openidPaths.code_verification}`;

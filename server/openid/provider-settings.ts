import {
  type ClaimsParameter,
  type Configuration,
  errors,
  type Grant,
  type JWTStructured,
  type KoaContextWithOIDC,
} from "oidc-provider";
import type { Config } from "../config/schema.ts";
import type { TenantContext } from "../context/context.ts";
import type { WakesWebhooks } from "../events/emit.ts";
import type { Signing } from "../keys/tenant-signing-keys.ts";
import { randomToken } from "../lib/random-token.ts";
import { artifactStorage } from "./artifact-storage.ts";
import { ACTOR_CLAIM } from "./asked-permissions.ts";
import { contextClasses } from "./authentication-context.ts";
import { actingClaim, findAccount, type UserAccount } from "./claims.ts";
import { clientsOf } from "./clients.ts";
import { deviceCodeStorage } from "./device-polls.ts";
import { grantOfSession, MAX_GRANT_SECONDS } from "./grants.ts";
import { interactionStorage } from "./interaction-storage.ts";
import { type DocumentProcess, documentReading } from "./metadata-documents.ts";
import { originsOf } from "./origins-of-client.ts";
import { openidPaths } from "./paths.ts";
import { promptAddress, promptPolicy } from "./prompts.ts";
import { registeredClientStorage } from "./registered-clients.ts";
import { claimsByScope } from "./scopes-of-users.ts";
import type { SigningAlgorithm, TenantKey } from "./signing.ts";
import { type IssuedToken, originClaim } from "./subject-token.ts";
import { subjectFor } from "./subjects.ts";
import { registeredId, scopesOfClient } from "./unlisted-clients.ts";
import { presentSession, presentVisitor } from "./visitor.ts";
import { visitorSessionStorage } from "./visitor-session.ts";

/** What the provider takes of the process. */
export type OpenidProcess = DocumentProcess & Signing & WakesWebhooks;

/** The storage of each model that is not stored like the others. */
const storages = {
  DeviceCode: deviceCodeStorage,
  Interaction: interactionStorage,
  Session: visitorSessionStorage,
};

/** The settings of the library for a tenant. */
export function providerSettings(
  context: TenantContext<OpenidProcess>,
  keys: readonly TenantKey[],
): Configuration {
  const { runtime, tenant } = context;
  const { base_url, openid, session } = tenant.config;
  // That of the key which signs: after a change of the setting it is the former one for a while.
  const algorithm = keys[0]?.alg as SigningAlgorithm;
  const within = withinActing(runtime);
  const { allowFetch, fetch } = documentReading(context, algorithm);
  return {
    fetch,
    adapter: (kind) => {
      if (kind === "Client") return registeredClientStorage(context, algorithm);
      const storage = Object.hasOwn(storages, kind) ? storages[kind as keyof typeof storages] : null;
      return storage ? storage(context) : artifactStorage(context, kind);
    },
    clients: clientsOf(tenant.config, algorithm),
    clientDefaults: { id_token_signed_response_alg: algorithm },
    jwks: { keys: [...keys] },
    enabledJWA: {
      idTokenSigningAlgValues: [...new Set(keys.map(({ alg }) => alg))] as SigningAlgorithm[],
      clientAuthSigningAlgValues: ["EdDSA", "ES256", "PS256", "RS256"],
    },
    routes: openidPaths,
    // The service signs out by itself (`logout-request.ts`).
    discovery: {
      end_session_endpoint: `${base_url}${openidPaths.end_session}`,
      frontchannel_logout_supported: true,
      frontchannel_logout_session_supported: true,
    },
    // Of the interfaces of the service, only the session cookie is that of a browser.
    cookies: {
      keys: runtime.vault.macs("openid cookies", tenant.id).map((key) => key.toString("base64url")),
      names: { interaction: "openid_interaction", resume: "openid_resume", session: VISITOR_COOKIE },
      short: { httpOnly: true, sameSite: "lax", signed: true },
      long: { httpOnly: true, sameSite: "lax", signed: false },
    },
    scopes: ["openid", "offline_access"],
    // Each ID token says how the user has signed in.
    claims: { openid: claimsOfIdTokens(tenant.config), ...mutable(claimsByScope(openid)), sid: null },
    acrValues: [...contextClasses],
    // A claim that a scope of the standard asks for is in the answer of UserInfo; an ID token has those that are asked for by name.
    conformIdTokenClaims: true,
    responseTypes: ["code"],
    subjectTypes: openid.pairwise_salt === undefined ? ["public"] : ["public", "pairwise"],
    pairwiseIdentifier: async (_, accountId, { clientId }) => subjectFor(tenant.config, clientId, accountId),
    clientAuthMethods: ["client_secret_basic", "private_key_jwt", "none"],
    async assertJwtClientAuthClaimsAndHeader(_, { exp }) {
      // That it was used is kept until it expires.
      if (Number(exp) - Date.now() / 1000 > MAX_ASSERTION_SECONDS)
        throw new errors.InvalidClientAuth("the client_assertion JWT is valid for more than an hour");
    },
    pkce: { required: () => true },
    findAccount: (ctx, accountId) => findAccount(context, ctx, accountId),
    extraTokenClaims: (ctx, token) => claimsOfAccessToken(context, ctx, token),
    formats: { customizers: { jwt: nameOfSubjectToken } },
    loadExistingGrant: (ctx) => grantOfSession(context, ctx),
    rotateRefreshToken: true,
    // Codes and tokens that name no session say nothing of who acts in it, and outlive it.
    expiresWithSession: async (_, source) =>
      !source.scopes.has("offline_access") || Boolean(presentSession()?.impersonation),
    // An operator who acts as a user has no access beyond the session.
    issueRefreshToken: async (_, client) =>
      client.grantTypeAllowed("refresh_token") && !presentSession()?.impersonation,
    interactions: {
      policy: promptPolicy(context),
      url: (_, interaction) => promptAddress(tenant.config, interaction),
    },
    ttl: {
      AccessToken: () => within(openid.access_token_lifetime),
      AuthorizationCode: openid.code_lifetime,
      ClientCredentials: openid.access_token_lifetime,
      DeviceCode: openid.device_code_lifetime,
      Grant: (_, grant) => (hasOfflineAccess(grant) ? MAX_GRANT_SECONDS : session.lifespan),
      IdToken: () => within(openid.access_token_lifetime),
      Interaction: openid.request_lifetime,
      RefreshToken: openid.refresh_token_lifetime,
      Session: session.lifespan,
    },
    features: {
      devInteractions: { enabled: false },
      // The library describes it; the service tells the clients (`sign-ins.ts`).
      backchannelLogout: { enabled: true },
      claimsParameter: { enabled: true, assertClaimsParameter: assertActorClaim },
      ...(openid.document_hosts.length > 0
        ? { clientIdMetadataDocument: { enabled: true, ack: "draft-02", allowFetch } }
        : {}),
      clientCredentials: { enabled: true },
      // Its pages are those of the service (`device-codes.ts`).
      ...(openid.device_flow
        ? {
            deviceFlow: {
              enabled: true,
              charset: "base-20" as const,
              mask: "****-****",
              deviceInfo: (ctx: KoaContextWithOIDC) => ({
                ...(session.acquire_ip_address ? { ip: ctx.ip } : {}),
                ...(session.acquire_user_agent ? { ua: ctx.get("user-agent") } : {}),
              }),
            },
          }
        : {}),
      dPoP: openid.dpop === "off" ? { enabled: false } : { enabled: true },
      externalSigningSupport: { enabled: true, ack: "experimental-01" },
      introspection: { enabled: true, allowedPolicy: ownTokens },
      pushedAuthorizationRequests: { enabled: true },
      ...(openid.registration === "off"
        ? {}
        : {
            registration: {
              enabled: true,
              // Who may register is decided before (`http/openid/registration.ts`).
              initialAccessToken: false,
              issueRegistrationAccessToken: false,
              idFactory: () => registeredId(runtime.platform.randomBytes(16).toString("base64url")),
              secretFactory: () => randomToken(runtime.platform),
            },
          }),
      resourceIndicators: { enabled: true, ...resourceSettings(tenant.config, algorithm, within) },
      revocation: { enabled: true, allowedPolicy: revocableTokens },
      rpInitiatedLogout: { enabled: false },
      userinfo: { enabled: true },
    },
    clientBasedCORS: (_, origin, client) => originsOf(client.redirectUris ?? []).includes(origin),
    renderError: (ctx, out) => {
      ctx.type = "json";
      ctx.body = out;
    },
  };
}

/** The longest life of a JWT by which a client authenticates (RFC 7523, 3). */
const MAX_ASSERTION_SECONDS = 3600;

const hasOfflineAccess = (grant: Grant) => grant.getOIDCScope().split(" ").includes("offline_access");

/** The library reads the identifier of its session from this cookie; browsers neither get nor send it. */
export const VISITOR_COOKIE = "openid_visitor";

/** When and how the user of a token has signed in (RFC 9068, 2.2.1), for APIs that ask for more (RFC 9470, 6). */
function authenticationOf({ oidc }: KoaContextWithOIDC) {
  const { AuthorizationCode, RefreshToken, DeviceCode } = oidc.entities;
  const { acr, amr, authTime } = AuthorizationCode ?? RefreshToken ?? DeviceCode ?? {};
  return authTime === undefined ? undefined : { acr, amr, auth_time: authTime };
}

/** What an access token says beside what the library writes. One for UserInfo alone is read by no API. */
function claimsOfAccessToken(
  context: TenantContext<OpenidProcess>,
  ctx: KoaContextWithOIDC,
  token: IssuedToken,
) {
  const account = ctx.oidc.account as UserAccount | undefined;
  const ofClient = token.aud === undefined ? undefined : account?.accessTokenClaims();
  const carried = presentVisitor().exchanged?.claims ?? { ...authenticationOf(ctx), ...actingClaim() };
  return { ...ofClient, ...carried, ...originClaim(context, token) };
}

/** A token that is given for another one names the user as that does: its service is not to learn another name. */
function nameOfSubjectToken(_: KoaContextWithOIDC, __: unknown, { payload }: JWTStructured): void {
  const { exchanged } = presentVisitor();
  if (exchanged) payload.sub = exchanged.subject;
}

/**
 * The claims of ID tokens, where the account of the request has them for its client: those of the operator too, because
 * programs read groups there alone. UserInfo has them as well.
 */
const claimsOfIdTokens = ({ openid }: Config) => [
  ...["sub", "acr", "amr", "auth_time", ACTOR_CLAIM],
  ...[...Object.values(openid.clients), ...Object.values(openid.scopes)].flatMap(({ claims }) =>
    Object.keys(claims),
  ),
];

/** The library leaves out a claim that a request names by neither null nor an object (OpenID Connect Core, 5.5.1). */
async function assertActorClaim(
  _: KoaContextWithOIDC,
  { id_token, userinfo }: ClaimsParameter,
): Promise<void> {
  for (const named of [id_token, userinfo])
    if (typeof (named?.[ACTOR_CLAIM] ?? {}) !== "object" || Array.isArray(named?.[ACTOR_CLAIM]))
      throw new errors.InvalidRequest(`claims.${ACTOR_CLAIM} should be null or an object`);
}

/** A client may ask about its own tokens alone (RFC 7662, 4). */
const ownTokens = (
  _: KoaContextWithOIDC,
  client: { clientId: string },
  token: { clientId?: string | undefined },
) => token.clientId === client.clientId;

/** A client may revoke its own tokens alone (RFC 7009, 2.1). */
function revocableTokens(...given: Parameters<typeof ownTokens>): true {
  if (ownTokens(...given)) return true;
  throw new errors.InvalidRequest("the token was issued to another client");
}

/**
 * Makes the lifetimes of tokens that APIs do not ask about: none outlives a session in which an operator acts as the user.
 *
 * @returns a function of the seconds that are set
 */
const withinActing =
  ({ platform }: OpenidProcess) =>
  (seconds: number): number => {
    const session = presentSession();
    if (!session?.impersonation) return seconds;
    const left = session.expiresAt.getTime() - Date.now() - platform.clockShift();
    return Math.max(1, Math.min(seconds, Math.floor(left / 1000)));
  };

function resourceSettings(
  config: Config,
  algorithm: SigningAlgorithm,
  within: ReturnType<typeof withinActing>,
) {
  const { openid } = config;
  const lifetime = () => within(openid.access_token_lifetime);
  return {
    defaultResource: () => undefined,
    useGrantedResource: () => true,
    getResourceServerInfo(
      { oidc }: KoaContextWithOIDC,
      indicator: string,
      { clientId }: { clientId: string },
    ) {
      const resource = Object.hasOwn(openid.resources, indicator) ? openid.resources[indicator] : undefined;
      if (!resource) throw new errors.InvalidTarget();
      const allowed = new Set(scopesOfClient(config, clientId));
      const scopes = resource.scopes.filter((scope) => allowed.has(scope));
      const { grant_type, scope: asked } = oidc.params ?? {};
      const isForNone = String(asked ?? "")
        .split(" ")
        .every((scope) => !scopes.includes(scope));
      // RFC 6749, 5.1: the answer has to tell the scope where it is another one, and cannot tell none.
      if (grant_type === "client_credentials" && asked && isForNone)
        throw new errors.InvalidScope("the client has none of these scopes at this resource", String(asked));
      return {
        scope: scopes.join(" "),
        audience: indicator,
        accessTokenTTL: lifetime(),
        accessTokenFormat: resource.token,
        ...(resource.token === "jwt" ? { jwt: { sign: { alg: algorithm } } } : {}),
      };
    },
  };
}

function mutable<Value extends Record<string, readonly string[]>>(
  value: Value,
): Record<keyof Value, string[]> {
  return Object.fromEntries(Object.entries(value).map(([name, claims]) => [name, [...claims]])) as never;
}

import { decodeJwt } from "jose";
import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  Configuration,
  type CustomFetch,
  customFetch,
  discovery,
  type ExportedJWKSCache,
  enableNonRepudiationChecks,
  fetchProtectedResource,
  fetchUserInfo,
  getJwksCache,
  setJwksCache,
} from "openid-client";
import type { Write } from "#db/write";
import type { Config } from "../config/schema.ts";
import type { RequestContext, TenantContext } from "../context/context.ts";
import { ThirdPartyError } from "../failures/third-party.ts";
import { isNoWeakEd25519Jwk } from "../lib/edwards25519.ts";
import { codeChallengeOf } from "../lib/pkce.ts";
import { randomToken } from "../lib/random-token.ts";
import { openThirdPartyRequest, testedProvider } from "./authorization-requests.ts";
import { readKeysAgain } from "./key-readings.ts";
import { toThirdPartyError } from "./oauth-errors.ts";
import type { Process } from "./process.ts";
import { type ProviderFacts, toProviderFacts } from "./provider-facts.ts";
import {
  boundedFetch,
  cachingFetch,
  forgetDocuments,
  MAX_PROVIDER_KEYS,
  providerNetwork,
} from "./provider-fetch.ts";
import { asObject, type Provider } from "./providers/provider.ts";

/** Sign-in at a provider with the authorization code flow of OAuth 2.0 (RFC 6749, 9700) or OpenID Connect Core 1.0. */

/** Below the time limit of a flow step, so that an unresponsive provider causes a flow error and not a 500. */
const MAX_STEP_SECONDS = 6;

/** Returns the redirect URI that is registered with every provider. */
const callbackUrl = (config: Config): URL => ownUrl(config, "thirdparty/callback");

/** Returns the address that browsers return to from a sign-out; it is registered with providers that end sessions. */
const postLogoutUrl = (config: Config): URL => ownUrl(config, "thirdparty/logout");

function ownUrl({ base_url }: Config, path: string): URL {
  return new URL(path, base_url.endsWith("/") ? base_url : `${base_url}/`);
}

/**
 * Starts an authorization request to a provider.
 *
 * @param about `flowId`: null for a test; `reauthenticates`: the user has to authenticate again; `testId`: the test that the
 *   request is; `privateState`: further data for the callback
 * @returns `url`: authorization URL with `state`, nonce and S256 challenge; `state`: for the cookie
 * @throws ThirdPartyError if discovery fails
 */
export async function startAuthorization(
  context: RequestContext<Process>,
  provider: Provider,
  about: {
    flowId: string | null;
    redirectTo: string;
    codeChallenge?: string;
    userId?: string;
    reauthenticates?: boolean;
    testId?: string;
    privateState: Record<string, string>;
  },
): Promise<{ url: string; state: string; write: Write }> {
  const { runtime, tenant } = context;
  const seconds = Math.min(tenant.config.third_party.timeout, MAX_STEP_SECONDS);
  const signal = AbortSignal.timeout(seconds * 1000);
  const codeVerifier = randomToken(runtime.platform);
  const nonce = randomToken(runtime.platform);
  const { reauthenticates = false, testId, ...request } = about;
  const { state, write } = openThirdPartyRequest(context, {
    ...request,
    provider: testId === undefined ? provider.id : testedProvider(provider.id),
    privateState: {
      ...about.privateState,
      ...(testId === undefined ? {} : { test: testId }),
      codeVerifier,
      nonce,
      ...(reauthenticates ? { reauthenticatedSince: context.now.toISOString() } : {}),
    },
  });
  const url = await withProviderErrors({ runtime, tenant }, provider, async () =>
    buildAuthorizationUrl(await configure({ runtime, tenant }, provider, signal), {
      ...provider.parameters,
      ...(reauthenticates ? provider.reauthentication : {}),
      redirect_uri: callbackUrl(tenant.config).href,
      scope: provider.scopes.join(" "),
      state,
      ...(provider.pkce
        ? { code_challenge: codeChallengeOf(codeVerifier), code_challenge_method: "S256" }
        : {}),
      ...(provider.nonce ? { nonce } : {}),
    }),
  );
  return { url: url.href, state, write };
}

/** What a provider has stated, as it was received. */
export interface ReceivedClaims {
  source: "id_token" | "userinfo" | "api" | "assertion";
  claims: Record<string, unknown>;
}

/** Parameters of an authorization response (RFC 6749, 4.1.2; RFC 9207); others are ignored. */
const responseParameters = ["state", "code", "iss", "error", "error_description", "error_uri"];

/**
 * Exchanges the code of an authorization response for the facts about the user, and the ID token, if the provider issues
 * them. All requests together take at most `third_party.timeout`.
 *
 * @param about `answer`: parameters of the callback, each once; `state` and `privateState`: of the request
 * @param received told of what the provider states, also if it is refused then
 * @throws ThirdPartyError for every failure
 */
export async function completeAuthorization(
  { runtime, tenant }: TenantContext<Process>,
  provider: Provider,
  about: { answer: URLSearchParams; state: string; privateState: Record<string, string> },
  received: (claims: ReceivedClaims) => void = () => {},
): Promise<{ facts: ProviderFacts; idToken: string | undefined }> {
  const { answer, state, privateState } = about;
  const signal = AbortSignal.timeout(tenant.config.third_party.timeout * 1000);
  const network = providerNetwork(runtime);
  const { codeVerifier = "", nonce = "" } = privateState;

  return withProviderErrors({ runtime, tenant }, provider, async () => {
    let configuration = await configure({ runtime, tenant }, provider, signal);
    const { jwks_uri } = configuration.serverMetadata();
    const keysOf = `${tenant.id} ${provider.id} ${jwks_uri}`;
    const known = network.keys.get(keysOf);
    const fetch = repeatingTokens(configuration, boundedFetch(network, signal));

    const returned = callbackUrl(tenant.config);
    for (const name of responseParameters) {
      const value = answer.get(name);
      if (value !== null) returned.searchParams.set(name, value);
    }
    const grant = (trusted: ExportedJWKSCache | undefined) => {
      configuration[customFetch] = fetch;
      if (trusted) setJwksCache(configuration, trusted);
      return authorizationCodeGrant(configuration, returned, {
        expectedState: state,
        ...(provider.pkce ? { pkceCodeVerifier: codeVerifier } : {}),
        ...(provider.nonce ? { expectedNonce: nonce } : {}),
        idTokenExpected: provider.idToken !== null,
      });
    };
    const tokens = await grant(known).catch(async (error: unknown) => {
      // Keys that were read for this answer cannot be older than it.
      if (!known || !jwks_uri || !isKeyFailure(error)) throw error;
      await readKeysAgain(network.keyReadings, `oauth ${keysOf}`, Date.now(), async () => {
        const keys = await readKeys(new URL(jwks_uri), fetch);
        if (keys) network.keys.set(keysOf, keys);
      });
      const renewed = network.keys.get(keysOf);
      if (!renewed || renewed === known) throw error;
      // The library keeps the keys of a configuration.
      configuration = await configure({ runtime, tenant }, provider, signal);
      return grant(renewed);
    });
    const keys = getJwksCache(configuration);
    if (keys && keys.jwks.keys.length > MAX_PROVIDER_KEYS) throw tooManyKeys();
    if (keys && !keys.jwks.keys.every(isNoWeakEd25519Jwk)) throw weakKey();
    if (keys) network.keys.set(keysOf, keys);

    const claims = provider.idToken === null ? null : (tokens.claims() ?? null);
    if (claims) received({ source: "id_token", claims });
    // Core 1.0, 3.1.3.7, item 5; the library checks it for several audiences only.
    if (claims?.azp !== undefined && claims.azp !== provider.clientId) throw wrongAudience();

    const { reauthenticatedSince } = privateState;
    if (reauthenticatedSince !== undefined && provider.reauthentication.max_age !== undefined)
      requireAuthenticatedSince(new Date(reauthenticatedSince), claims?.auth_time);

    const ask = async (url: string): Promise<unknown> => {
      const response = await fetchProtectedResource(configuration, tokens.access_token, new URL(url), "GET");
      if (response.status !== 200) throw unusableResponse("api_refused");
      return response.json().catch(() => {
        throw unusableResponse("api_unreadable");
      });
    };
    const told =
      <Answer, Asked extends unknown[]>(
        source: ReceivedClaims["source"],
        request: (...asked: Asked) => Promise<Answer>,
      ) =>
      async (...asked: Asked): Promise<Answer> => {
        const answered = await request(...asked);
        received({ source, claims: Array.isArray(answered) ? { list: answered } : asObject(answered) });
        return answered;
      };
    const userInfo = async (): Promise<Record<string, unknown>> => {
      const { userinfo_endpoint } = configuration.serverMetadata();
      if (!userinfo_endpoint) return {};
      // Without an ID token there is no subject to compare, and it need not be called `sub`.
      return claims
        ? fetchUserInfo(configuration, tokens.access_token, claims.sub)
        : asObject(await ask(userinfo_endpoint));
    };
    const statement = await provider.readStatement({
      claims,
      accessToken: tokens.access_token,
      fetchJson: told("api", ask),
      userInfo: told("userinfo", userInfo),
      user: answer.get("user"),
    });
    const trust = { provider: provider.id, satisfiesMfa: provider.satisfiesMfa };
    const facts = toProviderFacts(statement, trust, tenant.config.email.max_length);
    if (!facts) throw unusableResponse("no_subject");
    return { facts, idToken: provider.idToken === null ? undefined : tokens.id_token };
  });
}

/**
 * Returns the address at which the browser ends its session at a provider (OpenID Connect RP-Initiated Logout 1.0, 2). This
 * service sends no request there.
 *
 * Both the ID token and the client's id are sent: without the token, providers ask their user whether to sign out, or do not
 * lead back here; with it alone, a provider that encrypts its ID tokens cannot tell the client.
 *
 * @param about `idToken`: of the sign-in; `state`: of the sign-out
 * @returns null if the provider has no such address, or one without TLS
 * @throws ThirdPartyError if discovery fails
 */
export async function endSessionUrl(
  { runtime, tenant }: TenantContext<Process>,
  provider: Provider,
  { idToken, state }: { idToken: string | undefined; state: string },
): Promise<URL | null> {
  const seconds = Math.min(tenant.config.third_party.timeout, MAX_STEP_SECONDS);
  const signal = AbortSignal.timeout(seconds * 1000);
  const endpoint =
    provider.endSessionEndpoint ??
    (await withProviderErrors({ runtime, tenant }, provider, async () => {
      const configuration = await configure({ runtime, tenant }, provider, signal);
      return configuration.serverMetadata().end_session_endpoint;
    }));
  if (typeof endpoint !== "string" || !URL.canParse(endpoint)) return null;
  const url = new URL(endpoint);
  const isPlainAllowed = tenant.config.mode === "development" && url.protocol === "http:";
  if (!(url.protocol === "https:" || isPlainAllowed) || url.username !== "" || url.password !== "")
    return null;
  const hint = logoutHintOf(idToken);
  const parameters = {
    ...(idToken === undefined ? {} : { id_token_hint: idToken }),
    ...(hint === undefined ? {} : { logout_hint: hint }),
    client_id: provider.clientId,
    post_logout_redirect_uri: postLogoutUrl(tenant.config).href,
    state,
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url;
}

/** Microsoft Entra ID asks which account to sign out, unless it is told by this optional claim of its ID tokens. */
function logoutHintOf(idToken: string | undefined): string | undefined {
  if (idToken === undefined) return undefined;
  try {
    const { login_hint } = decodeJwt(idToken);
    return typeof login_hint === "string" ? login_hint : undefined;
  } catch {
    // An encrypted one.
    return undefined;
  }
}

/** Whether no known key fits a signature, or the one that is named does not verify it. */
function isKeyFailure(error: unknown): boolean {
  const codes: unknown[] = [];
  for (let cause = error; cause instanceof Error; cause = cause.cause)
    codes.push("code" in cause ? cause.code : undefined, cause.message);
  return codes.includes("OAUTH_KEY_SELECTION_FAILED") || codes.includes("JWT signature verification failed");
}

/** @returns null if the address answers no JSON Web Key Set (RFC 7517, 5) */
async function readKeys(url: URL, fetch: CustomFetch): Promise<ExportedJWKSCache | null> {
  try {
    const options = { method: "GET", headers: { accept: "application/json" }, redirect: "manual" } as const;
    const response = await fetch(url.href, { ...options, body: undefined });
    if (response.status !== 200) return null;
    const { keys } = asObject(await response.json());
    if (!Array.isArray(keys) || keys.length > MAX_PROVIDER_KEYS) return null;
    return { jwks: { keys: keys.map((key) => asObject(key)) as never }, uat: Math.floor(Date.now() / 1000) };
  } catch {
    return null;
  }
}

/** Returns a `fetch` that repeats the first answer of the token endpoint: a code is accepted once (RFC 6749, 4.1.2). */
function repeatingTokens(configuration: Configuration, fetch: CustomFetch): CustomFetch {
  const { token_endpoint } = configuration.serverMetadata();
  let first: Response | null = null;
  return async (url, options) => {
    if (url !== token_endpoint) return fetch(url, options);
    first ??= await fetch(url, options);
    return first.clone();
  };
}

const unusableResponse = (reason: "api_refused" | "api_unreadable" | "no_subject") =>
  new ThirdPartyError("invalid_request", "The provider did not say who you are.", reason);

const tooManyKeys = () =>
  new ThirdPartyError("invalid_request", "The provider's answer could not be read.", "answer_too_long");

/** Signatures under such a key can be forged, so a provider that publishes one is not believed at all. */
const weakKey = () =>
  new ThirdPartyError("invalid_request", "The provider's answer could not be verified.", "weak_key");

/** The difference of clocks between this service and a provider. */
const CLOCK_SKEW_MS = 60_000;

/**
 * Checks the time of the authentication (OpenID Connect Core 1.0, 3.1.3.7, item 13).
 *
 * @param authTime claim `auth_time`, in seconds since 1970
 * @throws ThirdPartyError if the user did not authenticate since then
 */
function requireAuthenticatedSince(since: Date, authTime: unknown): void {
  if (typeof authTime !== "number" || authTime * 1000 < since.getTime() - CLOCK_SKEW_MS)
    throw new ThirdPartyError("access_denied", "The provider did not ask you to sign in again.", "auth_time");
}

const wrongAudience = () =>
  new ThirdPartyError("invalid_request", "The provider's answer is not meant for this service.", "azp");

/** Returns the library's configuration of a provider, with discovery if needed. */
async function configure(
  { runtime, tenant }: TenantContext<Process>,
  provider: Provider,
  signal: AbortSignal,
): Promise<Configuration> {
  const { server, clientId } = provider;
  const network = providerNetwork(runtime);
  const fetch = boundedFetch(network, signal);
  const authentication = await provider.authenticate();
  // Plain http is allowed for a provider on the developer's machine.
  const insecure = tenant.config.mode === "development" ? [allowInsecureRequests] : [];
  const seconds = tenant.config.third_party.timeout;
  let configuration: Configuration;
  if ("metadata" in server) {
    configuration = new Configuration(server.metadata, clientId, {}, authentication);
    for (const allow of insecure) allow(configuration);
    configuration.timeout = seconds;
  } else {
    configuration = await discovery(new URL(server.issuer), clientId, {}, authentication, {
      execute: insecure,
      timeout: seconds,
      [customFetch]: cachingFetch(network, tenant.id, fetch),
    });
  }
  configuration[customFetch] = fetch;
  if (provider.idToken === "verified") enableNonRepudiationChecks(configuration);
  return configuration;
}

/** Converts errors, and drops the cached discovery document, which may be outdated. */
async function withProviderErrors<Result>(
  { runtime, tenant }: TenantContext<Process>,
  { server }: Provider,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if ("issuer" in server) forgetDocuments(providerNetwork(runtime), tenant.id, server.issuer);
    throw toThirdPartyError(error);
  }
}

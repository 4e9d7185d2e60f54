import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  Configuration,
  customFetch,
  discovery,
  enableNonRepudiationChecks,
  fetchProtectedResource,
  fetchUserInfo,
  getJwksCache,
  setJwksCache,
} from "openid-client";
import type { Write } from "#db/write";
import type { Config } from "../config/schema.ts";
import { codeChallengeOf } from "../lib/pkce.ts";
import { randomToken } from "../lib/random-token.ts";
import type { RequestContext, TenantContext } from "../runtime.ts";
import { openThirdPartyRequest } from "./authorization-requests.ts";
import { toThirdPartyError } from "./oauth-errors.ts";
import { type ProviderFacts, toProviderFacts } from "./provider-facts.ts";
import { boundedFetch, cachingFetch, forgetDocuments, providerNetwork } from "./provider-fetch.ts";
import { asObject, type Provider } from "./providers/provider.ts";
import { ThirdPartyError } from "./third-party-error.ts";

/** Signing in at a provider by OAuth 2.0 (RFC 6749, 9700) or OpenID Connect Core 1.0, by the authorization code. */

/** Less than a step may be judged, so that a provider that does not answer is a refusal and no fault. */
const MAX_STEP_SECONDS = 6;

/** Where providers send people back to; registered with each of them. */
export function callbackUrl({ base_url }: Config): URL {
  return new URL("thirdparty/callback", base_url.endsWith("/") ? base_url : `${base_url}/`);
}

/**
 * Opens a request to a provider.
 *
 * @param about `remembers`: what else the callback has to know
 * @returns `url`: where the person is to be sent, with `state`, nonce and S256 challenge; `state`: for the cookie
 * @throws ThirdPartyError when the provider's addresses cannot be discovered
 */
export async function startAuthorization(
  context: RequestContext,
  provider: Provider,
  about: {
    flowId: string;
    redirectTo: string;
    codeChallenge?: string;
    userId?: string;
    privateState: Record<string, string>;
  },
): Promise<{ url: string; state: string; write: Write }> {
  const { runtime, tenant } = context;
  const seconds = Math.min(tenant.config.third_party.timeout, MAX_STEP_SECONDS);
  const signal = AbortSignal.timeout(seconds * 1000);
  const codeVerifier = randomToken(runtime.platform);
  const nonce = randomToken(runtime.platform);
  const { state, write } = openThirdPartyRequest(context, {
    ...about,
    provider: provider.id,
    privateState: { ...about.privateState, codeVerifier, nonce },
  });
  const url = await withProviderErrors({ runtime, tenant }, provider, async () =>
    buildAuthorizationUrl(await configure({ runtime, tenant }, provider, signal), {
      ...provider.parameters,
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

/** Parameters of an authorization response (RFC 6749, 4.1.2; RFC 9207); what else came along means nothing here. */
const responseParameters = ["state", "code", "iss", "error", "error_description", "error_uri"];

/**
 * Trades the code of an authorization response for what the provider says of the person. All of it together takes
 * `third_party.timeout` at the most.
 *
 * @param about `answer`: parameters of the callback, each once; `state` and `remembers`: of the request it answers
 * @throws ThirdPartyError whatever the provider did
 */
export async function completeAuthorization(
  { runtime, tenant }: TenantContext,
  provider: Provider,
  about: { answer: URLSearchParams; state: string; privateState: Record<string, string> },
): Promise<ProviderFacts> {
  const { answer, state, privateState } = about;
  const signal = AbortSignal.timeout(tenant.config.third_party.timeout * 1000);
  const network = providerNetwork(runtime);
  const { codeVerifier = "", nonce = "" } = privateState;

  return withProviderErrors({ runtime, tenant }, provider, async () => {
    const configuration = await configure({ runtime, tenant }, provider, signal);
    const keysOf = `${tenant.id} ${provider.id} ${configuration.serverMetadata().jwks_uri}`;
    const known = network.keys.get(keysOf);
    if (known) setJwksCache(configuration, known);

    const returned = callbackUrl(tenant.config);
    for (const name of responseParameters) {
      const value = answer.get(name);
      if (value !== null) returned.searchParams.set(name, value);
    }
    const tokens = await authorizationCodeGrant(configuration, returned, {
      expectedState: state,
      ...(provider.pkce ? { pkceCodeVerifier: codeVerifier } : {}),
      ...(provider.nonce ? { expectedNonce: nonce } : {}),
      idTokenExpected: provider.idToken !== null,
    });
    const keys = getJwksCache(configuration);
    if (keys) network.keys.set(keysOf, keys);

    const claims = provider.idToken === null ? null : (tokens.claims() ?? null);
    // Core 1.0, 3.1.3.7, item 5; the library looks at it where there are several audiences alone.
    if (claims?.azp !== undefined && claims.azp !== provider.clientId) throw wrongAudience();

    const ask = async (url: string): Promise<unknown> => {
      const response = await fetchProtectedResource(configuration, tokens.access_token, new URL(url), "GET");
      if (response.status !== 200) throw unusableResponse("api_refused");
      return response.json().catch(() => {
        throw unusableResponse("api_unreadable");
      });
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
      fetchJson: ask,
      userInfo,
      user: answer.get("user"),
    });
    const trust = { provider: provider.id, satisfiesMfa: provider.satisfiesMfa };
    const facts = toProviderFacts(statement, trust, tenant.config.email.max_length);
    if (!facts) throw unusableResponse("no_subject");
    return facts;
  });
}

const unusableResponse = (reason: string) =>
  new ThirdPartyError("invalid_request", "The provider did not say who you are.", reason);

const wrongAudience = () =>
  new ThirdPartyError("invalid_request", "The provider's answer is not meant for this service.", "azp");

/** Puts together what the library needs to know of a provider. Discovery happens here, where it has to. */
async function configure(
  { runtime, tenant }: TenantContext,
  provider: Provider,
  signal: AbortSignal,
): Promise<Configuration> {
  const { server, clientId } = provider;
  const network = providerNetwork(runtime);
  const fetch = boundedFetch(network, signal);
  const authentication = await provider.authenticate();
  // Plain http is for a provider on the developer's own machine.
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

/** Whatever failed, the provider may have moved: its discovery document is read anew the next time. */
async function withProviderErrors<Result>(
  { runtime, tenant }: TenantContext,
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

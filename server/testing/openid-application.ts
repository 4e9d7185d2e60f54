import * as openid from "openid-client";
import { type FlowClient, flowClient } from "./flow-client.ts";

/** An application that lets its users sign in by OpenID Connect, with `openid-client` (certified), and their browsers. */

export interface OpenidApplication {
  readonly config: openid.Configuration;
  /** Makes an authorization request, and what its answer is checked by. */
  request(parameters?: Record<string, string>): Promise<AuthorizationRequest>;
  /** Sends the browser to sign in, and redeems the code with which it returns. */
  signIn(browser: FlowClient, parameters?: Record<string, string>): Promise<Tokens>;
}

export type Tokens = openid.TokenEndpointResponse & openid.TokenEndpointResponseHelpers;

export interface AuthorizationRequest {
  url: URL;
  checks: { pkceCodeVerifier: string; expectedState: string; expectedNonce?: string };
}

export const REDIRECT_URI = "https://app.example.com/callback";

/**
 * Discovers the provider at an address.
 *
 * @param secret of a confidential client; none: a public one, unless it has a private key
 */
export async function openidApplication(
  issuer: string,
  {
    clientId,
    secret,
    privateKey,
    dpop,
  }: { clientId: string; secret?: string; privateKey?: CryptoKey; dpop?: CryptoKeyPair },
): Promise<OpenidApplication> {
  const withSecret = secret === undefined ? openid.None() : openid.ClientSecretBasic(secret);
  const authentication = privateKey ? openid.PrivateKeyJwt(privateKey) : withSecret;
  const config = await openid.discovery(new URL(issuer), clientId, undefined, authentication, {
    execute: [openid.allowInsecureRequests],
  });
  const bound = dpop ? { DPoP: openid.getDPoPHandle(config, dpop) } : {};

  async function request(parameters: Record<string, string> = {}): Promise<AuthorizationRequest> {
    const pkceCodeVerifier = openid.randomPKCECodeVerifier();
    const expectedState = openid.randomState();
    const expectedNonce = openid.randomNonce();
    const isOpenid = (parameters.scope ?? "openid").split(" ").includes("openid");
    const url = openid.buildAuthorizationUrl(config, {
      redirect_uri: REDIRECT_URI,
      scope: "openid",
      state: expectedState,
      ...(isOpenid ? { nonce: expectedNonce } : {}),
      code_challenge: await openid.calculatePKCECodeChallenge(pkceCodeVerifier),
      code_challenge_method: "S256",
      ...parameters,
    });
    return { url, checks: { pkceCodeVerifier, expectedState, ...(isOpenid ? { expectedNonce } : {}) } };
  }

  return {
    config,
    request,
    async signIn(browser, parameters) {
      const { url, checks } = await request(parameters);
      const returned = await visit(browser, url);
      return openid.authorizationCodeGrant(config, returned, checks, undefined, bound);
    },
  };
}

/** A browser that is at no page yet. */
export const newBrowser = (server: { url: string }): FlowClient => flowClient(server.url);

/** The browser of a user who has just registered with an address and a password, where both suffice. */
export async function registeredBrowser(server: { url: string }, email: string): Promise<FlowClient> {
  const browser = newBrowser(server);
  await browser.start("registration");
  await browser.act("register_client_capabilities", { webauthn_available: false });
  await browser.act("register_login_identifier", { email });
  await browser.act("register_password", { new_password: "correct horse battery staple" });
  if (browser.state.name !== "success") throw new Error(`the registration ended at ${browser.state.name}`);
  return browser;
}

/**
 * Follows redirects within the service from an address.
 *
 * @returns the first address of another host, or the last answer's own
 */
export async function visit(browser: FlowClient, start: URL): Promise<URL> {
  let at = start;
  for (let hops = 0; hops < 10; hops += 1) {
    const response = await browser.request(`${at.pathname}${at.search}`);
    const location = response.headers.get("location");
    if (location === null) return at;
    const next = new URL(location, at);
    if (next.host !== start.host) return next;
    at = next;
  }
  throw new Error("the browser is redirected without end");
}

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { createRemoteJWKSet, jwtVerify } from "jose";
import * as openid from "openid-client";

/** A web application that lets its users sign in at Stile by OpenID Connect, with `openid-client`. */
export interface OpenidApplication {
  url: string;
  /** Sessions that it was told have ended (OpenID Connect Back-Channel Logout 1.0). */
  signedOut: string[];
  close(): Promise<void>;
}

/**
 * Starts it on a port of this machine.
 *
 * @param options `parameters` are added to each authorization request
 */
export async function startOpenidApplication({
  port,
  issuer,
  clientId,
  secret,
  parameters = {},
}: {
  port: number;
  issuer: string;
  clientId: string;
  secret: string;
  parameters?: Record<string, string>;
}): Promise<OpenidApplication> {
  const url = `http://127.0.0.1:${port}`;
  const config = await openid.discovery(
    new URL(issuer),
    clientId,
    undefined,
    openid.ClientSecretBasic(secret),
    {
      execute: [openid.allowInsecureRequests],
    },
  );
  /** The checks of the requests under way, by their state. */
  const waiting = new Map<string, { verifier: string; nonce: string }>();

  async function signIn(outgoing: ServerResponse): Promise<void> {
    const [state, nonce, verifier] = [
      openid.randomState(),
      openid.randomNonce(),
      openid.randomPKCECodeVerifier(),
    ];
    waiting.set(state, { verifier, nonce });
    const address = openid.buildAuthorizationUrl(config, {
      redirect_uri: `${url}/callback`,
      scope: "openid email",
      state,
      nonce,
      code_challenge: await openid.calculatePKCECodeChallenge(verifier),
      code_challenge_method: "S256",
      ...parameters,
    });
    outgoing.writeHead(303, { location: address.href }).end();
  }

  async function welcome(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const returned = new URL(incoming.url ?? "", url);
    const state = returned.searchParams.get("state") ?? "";
    const { verifier = "", nonce = "" } = waiting.get(state) ?? {};
    waiting.delete(state);
    const error = returned.searchParams.get("error");
    if (error !== null) return page(outgoing, `Not signed in: ${error}`);
    const tokens = await openid.authorizationCodeGrant(config, returned, {
      pkceCodeVerifier: verifier,
      expectedState: state,
      expectedNonce: nonce,
    });
    const { sub = "" } = tokens.claims() ?? {};
    const user = await openid.fetchUserInfo(config, tokens.access_token, sub);
    page(outgoing, `Welcome, ${user.email}`);
  }

  const signedOut: string[] = [];
  const keys = createRemoteJWKSet(new URL(config.serverMetadata().jwks_uri ?? ""));

  async function endSession(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const token = new URLSearchParams(await text(incoming)).get("logout_token") ?? "";
    const { payload } = await jwtVerify(token, keys, { issuer, audience: clientId, typ: "logout+jwt" });
    signedOut.push(String(payload.sid));
    outgoing.writeHead(200).end();
  }

  const answerTo = (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    if (incoming.url?.startsWith("/callback")) return welcome(incoming, outgoing);
    return incoming.url === "/signed-out" ? endSession(incoming, outgoing) : signIn(outgoing);
  };

  const server = createServer((incoming, outgoing) => {
    if (incoming.url === "/favicon.ico") return void outgoing.writeHead(204).end();
    const answered = answerTo(incoming, outgoing);
    answered.catch((error: unknown) => outgoing.writeHead(500).end(String(error)));
  });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  return { url, signedOut, close: () => new Promise((resolve) => server.close(() => resolve())) };
}

function page(outgoing: ServerResponse, heading: string): void {
  outgoing.writeHead(200, { "content-type": "text/html" });
  outgoing.end(
    `<!doctype html><html lang=en><title>App</title><link rel=icon href=data:,><h1>${heading}</h1>`,
  );
}

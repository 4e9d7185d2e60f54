import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { createRemoteJWKSet, jwtVerify } from "jose";
import * as openid from "openid-client";
import { freePort } from "../server/testing/free-port.ts";
import { test as base } from "./fixtures.ts";

/** A web application that lets its users sign in at Stile by OpenID Connect, with `openid-client`. */
export interface OpenidApplication {
  url: string;
  /** Sessions that it was told have ended (OpenID Connect Back-Channel Logout 1.0). */
  signedOut: string[];
  /** Sessions that a frame of it has ended in the browser that has them (OpenID Connect Front-Channel Logout 1.0). */
  endedInFrame: string[];
  close(): Promise<void>;
}

/**
 * Starts it on a port of this machine.
 *
 * @param options `parameters` are added to each authorization request; `host`: that of its address, a name of this machine
 */
export async function startOpenidApplication({
  port,
  issuer,
  clientId,
  secret,
  parameters = {},
  host = "127.0.0.1",
}: {
  port: number;
  issuer: string;
  clientId: string;
  secret: string;
  parameters?: Record<string, string>;
  host?: string;
}): Promise<OpenidApplication> {
  const url = `http://${host}:${port}`;
  const config = await openid.discovery(
    new URL(issuer),
    clientId,
    undefined,
    openid.ClientSecretBasic(secret),
    {
      execute: [openid.allowInsecureRequests],
    },
  );
  /** Of the user who has signed in last. */
  let idToken = "";
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
    const claims = tokens.claims();
    const user = await openid.fetchUserInfo(config, tokens.access_token, claims?.sub ?? "");
    idToken = tokens.id_token ?? "";
    if (claims?.sid) outgoing.setHeader("set-cookie", `${cookie}=${claims.sid}; ${attributes}`);
    page(outgoing, `Welcome, ${user.email}`);
  }

  const cookie = `session-${clientId}`;
  const attributes = "Path=/; HttpOnly; SameSite=Lax";
  const endedInFrame: string[] = [];

  /** Ends the session of the browser, if the provider means it. */
  function endInFrame(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const { searchParams } = new URL(incoming.url ?? "", url);
    const sid = searchParams.get("sid") ?? "";
    const isMeant =
      searchParams.get("iss") === issuer && incoming.headers.cookie?.includes(`${cookie}=${sid}`);
    if (isMeant) {
      endedInFrame.push(sid);
      outgoing.setHeader("set-cookie", `${cookie}=; ${attributes}; Max-Age=0`);
    }
    outgoing.setHeader("cache-control", "no-store");
    page(outgoing, isMeant ? "Signed out" : "No session");
  }

  /** Sends the browser to sign out of the provider, and of all applications. */
  function signOut(outgoing: ServerResponse): void {
    const address = openid.buildEndSessionUrl(config, {
      id_token_hint: idToken,
      post_logout_redirect_uri: `${url}/goodbye`,
      state: "left",
    });
    outgoing.writeHead(303, { location: address.href }).end();
  }

  const signedOut: string[] = [];
  const keys = createRemoteJWKSet(new URL(config.serverMetadata().jwks_uri ?? ""));

  async function endSession(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const token = new URLSearchParams(await text(incoming)).get("logout_token") ?? "";
    const { payload } = await jwtVerify(token, keys, { issuer, audience: clientId, typ: "logout+jwt" });
    signedOut.push(String(payload.sid));
    outgoing.writeHead(200).end();
  }

  const answerTo = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const { pathname } = new URL(incoming.url ?? "", url);
    if (pathname === "/callback") return welcome(incoming, outgoing);
    if (pathname === "/signed-out") return endSession(incoming, outgoing);
    if (pathname === "/out") return endInFrame(incoming, outgoing);
    if (pathname === "/sign-out") return signOut(outgoing);
    if (pathname === "/silent-sign-out") return showFrame(outgoing, "/sign-out");
    if (pathname === "/framed-account")
      return showFrame(outgoing, `${issuer}/embed?${new URLSearchParams({ origin: url, flow: "profile" })}`);
    return pathname === "/goodbye" ? page(outgoing, "Goodbye") : signIn(outgoing);
  };

  const server = createServer((incoming, outgoing) => {
    if (incoming.url === "/favicon.ico") return void outgoing.writeHead(204).end();
    const answered = answerTo(incoming, outgoing);
    answered.catch((error: unknown) => outgoing.writeHead(500).end(String(error)));
  });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  return {
    url,
    signedOut,
    endedInFrame,
    close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      // The browser may have opened one that it has sent nothing on.
      server.closeAllConnections();
      return closed;
    },
  };
}

/** A page that holds a frame, as one that signs out by `signoutSilent` of `oidc-client-ts` does. */
function showFrame(outgoing: ServerResponse, address: string): void {
  outgoing.writeHead(200, { "content-type": "text/html" });
  outgoing.end(
    `<!doctype html><html lang=en><title>App</title><link rel=icon href=data:,>
    <iframe title="Stile" width="480" height="700" src="${address.replaceAll("&", "&amp;")}"></iframe>`,
  );
}

function page(outgoing: ServerResponse, heading: string): void {
  outgoing.writeHead(200, { "content-type": "text/html" });
  outgoing.end(
    `<!doctype html><html lang=en><title>App</title><link rel=icon href=data:,><h1>${heading}</h1>`,
  );
}

const secret = "a secret of at least thirty-two characters";

const names = ["shop", "forum", "careful", "reader", "club", "bank", "office", "agent"] as const;

type Name = (typeof names)[number];

/** Tests whose server knows these applications, each of which is started by the test that names it. */
export const test = base.extend<Record<Name, OpenidApplication>, { ports: Record<Name, number> }>({
  ports: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads what a fixture needs from here
    async ({}, use) => {
      const ports = await Promise.all(names.map(async (name) => [name, await freePort()]));
      await use(Object.fromEntries(ports));
    },
    { scope: "worker" },
  ],
  settings: [
    async ({ ports }, use) => {
      const client = (name: string, port: number) => ({
        name,
        secret,
        redirect_uris: [`http://127.0.0.1:${port}/callback`],
      });
      const clients = {
        shop: {
          ...client("Shop", ports.shop),
          backchannel_logout_uri: `http://127.0.0.1:${ports.shop}/signed-out`,
          post_logout_redirect_uris: [`http://127.0.0.1:${ports.shop}/goodbye`],
        },
        tv: { name: "Shop on TV", grants: ["device_code", "refresh_token"], scopes: ["openid", "email"] },
        forum: client("Forum", ports.forum),
        careful: client("Careful", ports.careful),
        reader: { ...client("The library reader", ports.reader), first_party: false },
        club: {
          ...client("The club", ports.club),
          first_party: false,
          scopes: ["openid", "email", "groups"],
        },
        bank: client("Bank", ports.bank),
        office: client("Office", ports.office),
      };
      await use({
        STILE_OPENID_ENABLED: "true",
        STILE_OPENID_CLIENTS: JSON.stringify(clients),
        STILE_OPENID_SCOPES: JSON.stringify({
          groups: {
            claims: { groups: "public.groups" },
            texts: { en: "see which teams you are in", de: "sehen, in welchen Teams Sie sind" },
          },
        }),
        STILE_OPENID_REGISTRATION: "open",
        STILE_OPENID_DEVICE_FLOW: "true",
        STILE_OPENID_ALLOW_PRIVATE_LOGOUT_TARGETS: "true",
      });
    },
    { scope: "worker" },
  ],
  shop: async ({ ports: { shop: port }, server }, use) => {
    const application = await startOpenidApplication({ port, issuer: server.url, clientId: "shop", secret });
    await use(application);
    await application.close();
  },
  forum: async ({ ports: { forum: port }, server }, use) => {
    const application = await startOpenidApplication({ port, issuer: server.url, clientId: "forum", secret });
    await use(application);
    await application.close();
  },
  /** It asks its users to sign in each time. */
  careful: async ({ ports: { careful: port }, server }, use) => {
    const asked = { port, issuer: server.url, clientId: "careful", secret, parameters: { prompt: "login" } };
    const application = await startOpenidApplication(asked);
    await use(application);
    await application.close();
  },
  /** It is not the operator's own. */
  reader: async ({ ports: { reader: port }, server }, use) => {
    const application = await startOpenidApplication({
      port,
      issuer: server.url,
      clientId: "reader",
      secret,
    });
    await use(application);
    await application.close();
  },
  /** It asks for a scope of the operator's own. */
  club: async ({ ports: { club: port }, server }, use) => {
    const asked = { port, issuer: server.url, clientId: "club", secret };
    const application = await startOpenidApplication({
      ...asked,
      parameters: { scope: "openid email groups" },
    });
    await use(application);
    await application.close();
  },
  /** It asks for several factors. */
  bank: async ({ ports: { bank: port }, server }, use) => {
    const asked = { port, issuer: server.url, clientId: "bank", secret };
    const application = await startOpenidApplication({
      ...asked,
      parameters: { acr_values: "urn:stile:mfa" },
    });
    await use(application);
    await application.close();
  },
  /** It lets its users choose the account. */
  office: async ({ ports: { office: port }, server }, use) => {
    const asked = { port, issuer: server.url, clientId: "office", secret };
    const application = await startOpenidApplication({ ...asked, parameters: { prompt: "select_account" } });
    await use(application);
    await application.close();
  },
  /** It has registered itself. */
  agent: async ({ ports: { agent: port }, server }, use) => {
    const said = { client_name: "An agent", redirect_uris: [`http://127.0.0.1:${port}/callback`] };
    const answer = await fetch(`${server.url}/oauth/register`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(said),
    });
    const registered = (await answer.json()) as { client_id: string; client_secret: string };
    const application = await startOpenidApplication({
      port,
      issuer: server.url,
      clientId: registered.client_id,
      secret: registered.client_secret,
    });
    await use(application);
    await application.close();
  },
});

/** The codes of a device, and its tokens once its user has answered. */
export async function device(issuer: string) {
  const config = await openid.discovery(new URL(issuer), "tv", undefined, openid.None(), {
    execute: [openid.allowInsecureRequests],
  });
  const codes = await openid.initiateDeviceAuthorization(config, { scope: "openid email" });
  const tokens = () => openid.pollDeviceAuthorizationGrant(config, { ...codes, interval: 1 });
  return { codes, tokens };
}

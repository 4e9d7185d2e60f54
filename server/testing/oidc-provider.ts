import { randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { exportJWK, generateKeyPair } from "jose";
import {
  type Adapter,
  type AdapterPayload,
  type Configuration,
  type KoaContextWithOIDC,
  Provider,
} from "oidc-provider";

/** A real OpenID Connect provider on this machine. Users sign in with their account name only. */
export interface OidcProvider {
  issuer: string;
  clientId: string;
  clientSecret: string;
  /** Environment variables that configure it as `custom_acme`. */
  settings: Record<string, string>;
  /** Signs with a new key from now on, and publishes it in place of the one before. */
  rotateKey(): Promise<void>;
  /** How often its keys were read. */
  keyReadings(): number;
  /** Creates or updates an account. The name is the subject. */
  person(name: string, claims?: Record<string, unknown>): void;
  /**
   * Signs in as a browser does, following redirects and submitting the form.
   *
   * @param address authorization URL
   * @param name account name; null cancels
   * @returns the callback URL
   */
  signIn(address: string, name: string | null): Promise<URL>;
  /** Returns a browser that keeps its session at the provider. */
  browser(): ProviderBrowser;
  close(): Promise<void>;
}

/** A browser that goes to the provider again and again. */
export interface ProviderBrowser {
  /**
   * Opens an address of the provider, and follows its redirects.
   *
   * @param name account name to sign in with if the page asks for one; null cancels
   * @returns the address of another host that it leads to, and whether the page asked who the user is
   */
  open(address: string, name: string | null): Promise<{ back: URL; asked: boolean }>;
}

/**
 * @param redirectUris registered callback addresses
 * @param postLogoutRedirectUris registered addresses to return to from a sign-out
 */
export async function startOidcProvider(
  redirectUris: string[],
  postLogoutRedirectUris: string[] = [],
): Promise<OidcProvider> {
  const people = new Map<string, Record<string, unknown>>();
  const client = { id: "stile", secret: randomBytes(24).toString("base64url") };
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  const adapter = memory();
  const cookieKey = randomBytes(16).toString("hex");
  const newProvider = async (kid: string): Promise<Provider> => {
    const { privateKey } = await generateKeyPair("RS256", { extractable: true });
    const provider = new Provider(issuer, {
      adapter,
      clients: [
        {
          client_id: client.id,
          client_secret: client.secret,
          redirect_uris: redirectUris,
          post_logout_redirect_uris: postLogoutRedirectUris,
          response_types: ["code"],
          grant_types: ["authorization_code"],
        },
      ],
      claims: {
        openid: ["sub"],
        email: ["email", "email_verified"],
        profile: ["name", "given_name", "family_name", "picture"],
      },
      conformIdTokenClaims: false,
      cookies: { keys: [cookieKey] },
      features: {
        devInteractions: { enabled: false },
        rpInitiatedLogout: { enabled: true, logoutSource },
      },
      findAccount: (_, name) =>
        people.has(name)
          ? { accountId: name, claims: () => ({ ...people.get(name), sub: name }) }
          : undefined,
      interactions: { url: (_, { uid }) => `/interaction/${uid}` },
      jwks: { keys: [{ ...(await exportJWK(privateKey)), alg: "RS256", use: "sig", kid }] },
      // Every requested scope is granted without consent.
      loadExistingGrant: async ({ oidc }) => {
        const grant = new provider.Grant({
          clientId: oidc.client?.clientId ?? "",
          accountId: oidc.session?.accountId ?? "",
        });
        grant.addOIDCScope("openid email profile");
        await grant.save();
        return grant;
      },
      pkce: { required: () => true },
      ttl: {
        AccessToken: 60,
        AuthorizationCode: 60,
        Grant: 60,
        IdToken: 60,
        Interaction: 600,
        Session: 600,
      },
    } satisfies Configuration);
    return provider;
  };
  let provider = await newProvider("first");
  let keyReadings = 0;

  server.on("request", (request: IncomingMessage, response: ServerResponse) => {
    if (request.url === "/jwks") keyReadings += 1;
    if (!request.url?.startsWith("/interaction/")) return void provider.callback()(request, response);
    void interact(provider, request, response);
  });

  return {
    issuer,
    clientId: client.id,
    clientSecret: client.secret,
    settings: {
      STILE_THIRD_PARTY_CUSTOM_PROVIDERS: JSON.stringify({
        acme: {
          display_name: "Acme",
          client_id: client.id,
          secret: client.secret,
          issuer,
          allow_linking: true,
        },
      }),
    },
    async rotateKey() {
      provider = await newProvider(randomBytes(8).toString("hex"));
    },
    keyReadings: () => keyReadings,
    person(name, claims = {}) {
      people.set(name, { ...people.get(name), ...claims });
    },
    signIn: async (address, name) => (await browser(issuer).open(address, name)).back,
    browser: () => browser(issuer),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** The provider's page: signs in or cancels. */
async function interact(provider: Provider, request: IncomingMessage, response: ServerResponse) {
  if (request.method === "GET") {
    response.setHeader("Content-Type", "text/html; charset=utf-8");
    response.end(`<!doctype html><html lang="en"><title>Acme</title><main><h1>Acme</h1><form method="post">
      <label>Account <input name="login" required></label><button>Sign in at Acme</button></form>
      <form method="post"><button name="abort" value="1">Turn back</button></form></main></html>`);
    return;
  }
  const form = new URLSearchParams(await text(request));
  const login = form.get("login");
  const result = login
    ? { login: { accountId: login } }
    : { error: "access_denied", error_description: "<b>The user cancelled.</b>" };
  await provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false });
}

/** The provider's page to sign out: with the ID token of the user it asks nothing, as others do. */
async function logoutSource(ctx: KoaContextWithOIDC, form: string): Promise<void> {
  const isKnown = ctx.oidc.entities.IdTokenHint !== undefined;
  ctx.body = `<!doctype html><html lang="en"><title>Acme</title><main><h1>Acme signs you out</h1>${form}
    <button form="op.logoutForm" name="logout" value="yes">Sign out at Acme</button></main>${
      isKnown ? `<script>document.querySelector("button").click()</script>` : ""
    }</html>`;
}

function browser(issuer: string): ProviderBrowser {
  const cookies = new Map<string, string>();
  const ask = async (address: URL, init: RequestInit = {}): Promise<Response> => {
    const cookie = [...cookies].map(([key, value]) => `${key}=${value}`).join("; ");
    const response = await fetch(address, { redirect: "manual", ...init, headers: { cookie } });
    for (const line of response.headers.getSetCookie()) {
      const [, key = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      cookies.set(key, value);
    }
    return response;
  };
  return {
    async open(start, name) {
      let address = new URL(start);
      let asked = false;
      for (let hops = 0; hops < 10; hops += 1) {
        if (address.origin !== issuer) return { back: address, asked };
        let response = await ask(address);
        if (response.status === 200) {
          const page = await response.text();
          // Without a session the library submits a form of its own.
          const [, action] = /<form (?:id="op.logoutForm" )?method="post" action="([^"]+)"/.exec(page) ?? [];
          const [, xsrf = ""] = /name="xsrf" value="([^"]+)"/.exec(page) ?? [];
          asked ||= !page.includes("<script>");
          const fields: Record<string, string> = name === null ? { abort: "1" } : { login: name };
          response = await ask(action ? new URL(action) : address, {
            method: "POST",
            body: new URLSearchParams(action ? { xsrf, logout: "yes" } : fields),
          });
        }
        const location = response.headers.get("location");
        if (location === null)
          throw new Error(`the provider answered ${response.status}: ${await response.text()}`);
        address = new URL(location, address);
      }
      throw new Error("the provider redirects in a loop");
    },
  };
}

/** Stores the state of the provider in memory. */
function memory() {
  const rows = new Map<string, AdapterPayload>();
  return class implements Adapter {
    readonly kind: string;
    constructor(kind: string) {
      this.kind = kind;
    }
    private key = (id: string) => `${this.kind} ${id}`;
    async upsert(id: string, payload: AdapterPayload) {
      rows.set(this.key(id), payload);
    }
    async find(id: string) {
      return rows.get(this.key(id));
    }
    async findByUid(uid: string) {
      return [...rows.values()].find((row) => row.uid === uid);
    }
    async findByUserCode() {
      return undefined;
    }
    async consume(id: string) {
      const row = rows.get(this.key(id));
      if (row) row.consumed = Math.floor(Date.now() / 1000);
    }
    async destroy(id: string) {
      rows.delete(this.key(id));
    }
    async revokeByGrantId(grantId: string) {
      for (const [key, row] of rows) if (row.grantId === grantId) rows.delete(key);
    }
  };
}

import { createHash } from "node:crypto";
import type { Target } from "../load.ts";
import type { Visit } from "../visit.ts";
import type { Way } from "../ways.ts";
import { settings } from "./settings.ts";

/** A measured OpenID provider. */
export interface Provider extends Target {
  name: string;
  paths: { authorize: string; token: string; userInfo: string };
  /** Scopes that make UserInfo say the address, and that a refresh token is issued for. */
  scope: string;
  /** Address of its database; null if it has none. */
  database: string | null;
  /** Cookies of a browser whose user is signed in; of the next user with each call. */
  cookies(): ReadonlyMap<string, string>;
}

/** How often each step is performed in the pass that counts its statements. */
export const COUNTED_STEPS = 10;

interface Tokens {
  access_token: string;
  refresh_token: string;
}

const { client } = settings;
const verifier = "v".repeat(43);
const challenge = createHash("sha256").update(verifier).digest("base64url");
const secret = new URLSearchParams([["", client.secret]]).toString().slice(1);
const basic = `authorization: Basic ${Buffer.from(`${client.id}:${secret}`).toString("base64")}\r\n`;

/** The requests of one user's browser, and of the application that the user signs in to. */
function requestsTo({ paths, scope }: Provider, browser: Visit, application: Visit) {
  const asked = new URLSearchParams({
    client_id: client.id,
    redirect_uri: client.redirectUri,
    response_type: "code",
    scope,
    state: "cart",
    nonce: "n",
    code_challenge: challenge,
    code_challenge_method: "S256",
  });

  async function authorize(): Promise<string> {
    for (let path = `${paths.authorize}?${asked}`; ; ) {
      const { head, body } = await browser.call("GET", path);
      const [, location] = /\r\nlocation: *([^\r]+)/i.exec(head) ?? [];
      if (!location) throw new Error(`${path}: ${head} ${body.slice(0, 500)}`);
      const { pathname, search, searchParams } = new URL(location, "http://127.0.0.1");
      const code = searchParams.get("code");
      if (location.startsWith(client.redirectUri) && code) return code;
      if (location.startsWith(client.redirectUri)) throw new Error(`${path} leads to ${location}`);
      path = `${pathname}${search}`;
    }
  }

  async function token(form: Record<string, string>): Promise<Tokens> {
    const { body } = await application.call("POST", paths.token, new URLSearchParams(form), basic);
    const tokens = JSON.parse(body) as Partial<Tokens>;
    if (!tokens.access_token || !tokens.refresh_token) throw new Error(`${paths.token}: ${body}`);
    return tokens as Tokens;
  }

  const exchange = (code: string) =>
    token({
      grant_type: "authorization_code",
      redirect_uri: client.redirectUri,
      code_verifier: verifier,
      code,
    });
  const refresh = ({ refresh_token }: Tokens) => token({ grant_type: "refresh_token", refresh_token });

  async function userInfo({ access_token }: Tokens): Promise<void> {
    const bearer = `authorization: Bearer ${access_token}\r\n`;
    const { body } = await application.call("GET", paths.userInfo, undefined, bearer);
    if (!body.includes('"email"')) throw new Error(`${paths.userInfo}: ${body}`);
  }

  async function signOn(): Promise<Tokens> {
    const tokens = await exchange(await authorize());
    await userInfo(tokens);
    return tokens;
  }

  return { authorize, exchange, refresh, userInfo, signOn };
}

export type OpenidWay = keyof ReturnType<typeof makeOpenidWays>;

/**
 * The ways of the measured tasks, and of the steps whose statements are counted. The second visit of each is the application's: its
 * requests carry no cookie.
 */
export function makeOpenidWays(provider: Provider) {
  /** The requests of a user who has signed on before: the first time makes the grant. */
  async function prepare(browser: Visit, application: Visit) {
    browser.remember(provider.cookies());
    const requests = requestsTo(provider, browser, application);
    return { ...requests, tokens: await requests.signOn() };
  }
  return {
    signOn: async (browser, application) => (await prepare(browser, application)).signOn,
    refresh: async (browser, application) => {
      const { refresh, tokens } = await prepare(browser, application);
      let last = tokens;
      return async () => {
        last = await refresh(last);
      };
    },
    authorize: async (browser, application) => (await prepare(browser, application)).authorize,
    exchange: async (browser, application) => {
      const { authorize, exchange } = await prepare(browser, application);
      const codes: string[] = [];
      while (codes.length < COUNTED_STEPS) codes.push(await authorize());
      return () => exchange(codes.pop() ?? "");
    },
    userInfo: async (browser, application) => {
      const { userInfo, tokens } = await prepare(browser, application);
      return () => userInfo(tokens);
    },
  } satisfies Record<string, Way>;
}

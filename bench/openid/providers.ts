import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { flowClient } from "../../server/testing/flow-client.ts";
import { type RunningServer, startServer } from "../../server/testing/server.ts";
import { type BenchDatabase, postmasterOf } from "../database.ts";
import { type ForkedServer, forkServer } from "../fork-server.ts";
import { processTree } from "../process.ts";
import { liftedLimits } from "../service.ts";
import { settings } from "./settings.ts";
import type { Provider } from "./ways.ts";

const { client, scope } = settings;
const password = "correct horse battery staple";

/** A provider in a process of its own, which ends when it is disconnected. */
interface ForkedProvider extends Provider, Pick<ForkedServer, "child"> {}

/** Starts Stile as `npm start` does, with its limits out of reach and the client as an application of the operator's own. */
export function startStile(): Promise<RunningServer> {
  const { DATABASE_URL: databaseUrl } = process.env;
  return startServer({
    env: {
      ...(databaseUrl ? { DATABASE_URL: databaseUrl } : {}),
      NODE_ENV: "production",
      ...liftedLimits(),
      STILE_OPENID_ENABLED: "true",
      STILE_OPENID_CLIENTS: JSON.stringify({
        [client.id]: { name: "Shop", secret: client.secret, redirect_uris: [client.redirectUri] },
      }),
      STILE_EMAIL_REQUIRE_VERIFICATION: "false",
      STILE_PASSKEY_ENABLED: "false",
      STILE_MFA_ENABLED: "false",
    },
  });
}

/** @param users how many sign in at once */
export async function stileProvider(
  server: RunningServer,
  database: BenchDatabase,
  users: number,
): Promise<Provider> {
  const cookies = await times(users, async () => {
    const browser = flowClient(server.url);
    await browser.start("registration");
    await browser.act("register_client_capabilities", { webauthn_available: false });
    await browser.act("register_login_identifier", { email: newAddress() });
    await browser.act("register_password", { new_password: password });
    return browser.cookies;
  });
  return {
    name: "Stile",
    url: server.url.replace("localhost", "127.0.0.1"),
    pids: () => processTree(server.pid, { except: postmasterOf(server) }),
    postgres: database.pid,
    database: database.url,
    paths: { authorize: "/oauth/authorize", token: "/oauth/token", userInfo: "/oauth/userinfo" },
    scope,
    cookies: inTurns(cookies),
  };
}

/** Starts better-auth's provider on a database beside Stile's. */
export async function startPeerProvider(database: BenchDatabase, users: number): Promise<ForkedProvider> {
  const folder = join(import.meta.dirname, "../peer");
  const databaseUrl = await database.createBeside("bench_openid_peer");
  const env = { ...process.env, NODE_ENV: "production" as const };
  const { url, child } = await forkServer(
    join(folder, "openid.js"),
    { ...settings, databaseUrl },
    { cwd: folder, env },
  );
  const cookies = await times(users, async () => {
    const answer = await fetch(`${url}/api/auth/sign-up/email`, {
      method: "POST",
      headers: { "content-type": "application/json", origin: url.replace("127.0.0.1", "localhost") },
      body: JSON.stringify({ name: "Ada", email: newAddress(), password }),
    });
    if (!answer.ok) throw new Error(`POST /api/auth/sign-up/email: ${answer.status} ${await answer.text()}`);
    const pairs = answer.headers.getSetCookie().map((line) => /^([^=]+)=([^;]*)/.exec(line) ?? []);
    return new Map(pairs.map(([, name = "", value = ""]) => [name, value]));
  });
  return {
    name: "better-auth",
    url,
    child,
    pids: () => processTree(child.pid ?? 0),
    postgres: database.pid,
    database: databaseUrl,
    paths: {
      authorize: "/api/auth/oauth2/authorize",
      token: "/api/auth/oauth2/token",
      userInfo: "/api/auth/oauth2/userinfo",
    },
    scope: `${scope} offline_access`,
    cookies: inTurns(cookies),
  };
}

/** Starts `oidc-provider` alone, which signs in each new browser by itself. */
export async function startBareProvider(): Promise<ForkedProvider> {
  const { url, child } = await forkServer(join(import.meta.dirname, "bare.ts"), settings);
  return {
    name: "oidc-provider in memory",
    url,
    child,
    pids: () => processTree(child.pid ?? 0),
    postgres: null,
    database: null,
    paths: { authorize: "/auth", token: "/token", userInfo: "/me" },
    scope,
    cookies: () => new Map(),
  };
}

const newAddress = () => `${randomUUID()}@example.com`;

const times = <Result>(count: number, run: () => Promise<Result>) =>
  Promise.all(Array.from({ length: count }, run));

/** Returns the next of the cookies with each call, and the first one after the last. */
function inTurns(cookies: readonly ReadonlyMap<string, string>[]): Provider["cookies"] {
  let next = 0;
  return () => cookies[next++ % cookies.length] ?? new Map();
}

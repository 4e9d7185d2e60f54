import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { freePort } from "../server/testing/free-port.ts";
import type { Target } from "./load.ts";
import { addressOf, nextOf } from "./people.ts";
import { processTree } from "./process.ts";
import type { Setting } from "./setting.ts";
import type { Way } from "./ways.ts";

/** Users of Keycloak, more than sign in at once, and how many of them are created at once. */
const USERS = 128;
const GROUP = 16;
/** Reached by a start that hangs only. */
const START_TIMEOUT_MS = 600_000;
const client = { client_id: "bench", client_secret: "bench" };
/** Never called: the load generator reads the code from the redirect. */
const redirect_uri = "http://127.0.0.1/callback";

/** An unpacked distribution of Keycloak that `kc.sh build --db=postgres` was run in, and where its log goes. */
export interface Distribution {
  folder: string;
  log: string;
}

/** A running Keycloak, without its PostgreSQL. */
export interface RunningKeycloak extends Omit<Target, "postgres"> {
  stop(): Promise<unknown>;
}

/**
 * Starts Keycloak in production mode, alone in its cluster, with a realm of Keycloak's defaults in which the users have
 * the password of the setting.
 *
 * @param databaseUrl an empty database, reached over TCP
 * @param parameters further ones of `kc.sh start`
 * @throws Error with the end of its log if it does not start
 */
export async function startKeycloak(
  { folder, log: logFile }: Distribution,
  databaseUrl: string,
  setting: Setting,
  parameters: readonly string[],
): Promise<RunningKeycloak> {
  const { username, password, port, pathname } = new URL(databaseUrl);
  const url = `http://127.0.0.1:${await freePort()}`;
  const settings = {
    KC_DB_URL: `jdbc:postgresql://127.0.0.1:${port}${pathname}`,
    KC_DB_USERNAME: username,
    KC_DB_PASSWORD: password,
    KC_HTTP_ENABLED: "true",
    KC_HTTP_HOST: "127.0.0.1",
    KC_HTTP_PORT: new URL(url).port,
    KC_HOSTNAME: url,
    KC_CACHE: "local",
    KC_BOOTSTRAP_ADMIN_USERNAME: "bench",
    KC_BOOTSTRAP_ADMIN_PASSWORD: "bench",
  };
  const log = openSync(logFile, "a");
  const child = spawn(join(folder, "bin/kc.sh"), ["start", "--optimized", ...parameters], {
    env: { ...process.env, ...settings },
    stdio: ["ignore", log, log],
  });
  const exited = once(child, "exit");
  // The script hands the signal on to its Java process.
  const abandon = () => void child.kill("SIGTERM");
  process.once("exit", abandon);
  const stop = async () => {
    process.removeListener("exit", abandon);
    abandon();
    await exited;
  };
  try {
    for (const deadline = Date.now() + START_TIMEOUT_MS; ; await pause(200)) {
      if ((await fetch(`${url}/realms/master`).catch(() => null))?.ok) break;
      if (child.exitCode !== null || Date.now() > deadline)
        throw new Error(`Keycloak did not start:\n${readFileSync(logFile, "utf8").slice(-3_000)}`);
    }
    await createRealm(url, setting);
  } catch (error) {
    await stop();
    throw error;
  }
  return { url, pids: () => processTree(child.pid ?? 0), stop };
}

/**
 * Creates a realm with Keycloak's defaults, a confidential client and the users. Each user is a request of its own,
 * because those of one request are slower the more there are.
 */
async function createRealm(url: string, { password }: Setting): Promise<void> {
  const grant = { client_id: "admin-cli", grant_type: "password", username: "bench", password: "bench" };
  const authorize = async () => {
    const tokens = `${url}/realms/master/protocol/openid-connect/token`;
    const granted = await fetch(tokens, { method: "POST", body: new URLSearchParams(grant) });
    return `Bearer ${((await granted.json()) as { access_token: string }).access_token}`;
  };
  const create = async (path: string, authorization: string, body: object) => {
    const headers = { "content-type": "application/json", authorization };
    const answer = await fetch(url + path, { method: "POST", headers, body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(`POST ${path}: ${answer.status} ${await answer.text()}`);
    await answer.arrayBuffer();
  };
  const userOf = (index: number) => ({
    username: addressOf("password", index),
    email: addressOf("password", index),
    emailVerified: true,
    firstName: "Bench",
    lastName: String(index),
    enabled: true,
    credentials: [{ type: "password", value: password }],
  });
  const { client_id: clientId, client_secret: secret } = client;
  const clients = [{ clientId, secret, redirectUris: [redirect_uri], enabled: true }];
  await create("/admin/realms", await authorize(), { realm: "bench", enabled: true, clients });
  for (let from = 0; from < USERS; from += GROUP) {
    // A token of an administrator lasts a minute.
    const authorization = await authorize();
    const group = Array.from({ length: GROUP }, (_, index) => userOf(from + index));
    await Promise.all(group.map((user) => create("/admin/realms/bench/users", authorization, user)));
  }
}

/**
 * Keycloak's own login by password, in a browser without cookies: the page with its form, the form, and the exchange of
 * the authorization code by the application, whose request has no cookies (OpenID Connect Core, 3.1).
 */
export function keycloakLogin({ password }: Setting): Way {
  const next = nextOf();
  const endpoint = "/realms/bench/protocol/openid-connect";
  return async (visit) => async () => {
    visit.forget();
    const asked = { client_id: client.client_id, redirect_uri, response_type: "code", scope: "openid" };
    const query = new URLSearchParams({ ...asked, state: randomUUID(), nonce: randomUUID() });
    const { body } = await visit.call("GET", `${endpoint}/auth?${query}`);
    const action = /action="https?:\/\/[^/"]+(\/[^"]+\/authenticate[^"]+)"/.exec(body)?.[1];
    if (!action) throw new Error(`a page without a form: ${body.slice(0, 3_000)}`);
    const form = new URLSearchParams({ username: addressOf("password", next("password") % USERS), password });
    const { head } = await visit.call("POST", action.replaceAll("&amp;", "&"), form);
    const code = /\r\nlocation: [^\r]*[?&]code=([^&\r]+)/i.exec(head)?.[1];
    if (!code) throw new Error(`a login without a code: ${head}`);
    visit.forget();
    const exchange = { ...client, redirect_uri, grant_type: "authorization_code", code };
    const answer = await visit.call("POST", `${endpoint}/token`, new URLSearchParams(exchange));
    if (!answer.body.includes('"id_token"')) throw new Error(`no token: ${answer.body}`);
  };
}

import { generateKeyPairSync } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { hash } from "@node-rs/argon2";
import { configSchema } from "../server/config/schema.ts";
import { flowClient } from "../server/testing/flow-client.ts";
import { type RunningServer, startServer, type Under } from "../server/testing/server.ts";
import { runStile } from "../server/testing/stile.ts";
import type { BenchDatabase } from "./database.ts";
import { growDatabase } from "./growth.ts";
import { addressOf, provider, recordsOf } from "./people.ts";
import type { Setting } from "./setting.ts";
import type { WorldAddresses } from "./world.ts";

/**
 * Starts Stile as `npm start` does, or under Next, with the limits of one source and one account out of reach.
 *
 * @param folder for the certificate of the provider, which Node reads
 * @param more environment variables
 * @param options `dataDir`: a data folder that stays; default: a new one
 */
export function startMeasured(
  world: WorldAddresses,
  folder: string,
  more: Record<string, string>,
  { under = "stile", dataDir }: { under?: Under; dataDir?: string | undefined } = {},
): Promise<RunningServer> {
  if (dataDir) mkdirSync(dataDir, { recursive: true });
  const certificate = join(folder, "provider.pem");
  writeFileSync(certificate, world.certificate);
  const { DATABASE_URL: databaseUrl } = process.env;
  const custom = {
    bench: { display_name: "Bench", client_id: provider.client, secret: "bench", issuer: world.provider },
  };
  return startServer({
    under,
    ...(dataDir ? { dataDir } : {}),
    env: {
      // What is stored in a folder that stays is sealed by the same key in each run.
      ...(dataDir ? { SECRET_KEYS: "a key of the benchmark alone" } : {}),
      NODE_ENV: "production",
      NODE_EXTRA_CA_CERTS: certificate,
      ...liftedLimits(),
      STILE_SERVER_TRUSTED_PROXIES: "127.0.0.1,::1",
      STILE_SESSION_COOKIE_RETENTION: "prompt",
      // The entries of a grown database are of a year; a purge of them is no part of any task.
      STILE_AUDIT_LOG_RETENTION: String(3 * 365 * 86_400),
      // The visitors of the benchmark are new browsers each time; most people sign in where they did before.
      STILE_SECURITY_NOTIFICATIONS_NOTIFICATIONS_NEW_BROWSER_ENABLED: "false",
      STILE_THIRD_PARTY_CUSTOM_PROVIDERS: JSON.stringify(custom),
      STILE_WEBHOOKS_ALLOW_PRIVATE_TARGETS: "true",
      SMTP_URL: world.smtp,
      ...more,
      ...(databaseUrl ? { DATABASE_URL: databaseUrl } : {}),
    },
  });
}

/** Every limit is counted as usual and never reached. */
export function liftedLimits(): Record<string, string> {
  const limits = Object.keys(configSchema.shape.rate_limiter.parse({})).filter((name) => name !== "enabled");
  return Object.fromEntries(limits.map((name) => [`STILE_RATE_LIMITER_${name.toUpperCase()}`, "1000000"]));
}

/** Webhooks that an event of a login is delivered to. */
const WEBHOOKS = 5;

const password = "correct horse battery staple";
const totp = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ";

/** What a kept data folder holds, written into it when it is complete. */
interface Kept {
  users: number;
  setting: Setting;
}

/**
 * Imports the users that sign in, creates keys and grows the database. What a kept folder holds is used as it is.
 *
 * @param users that the database is to be grown by; none: 0
 * @throws Error if the kept folder was grown by another number, or not to the end
 */
export async function prepare(
  server: RunningServer,
  database: BenchDatabase,
  users: number,
): Promise<Setting> {
  const file = join(server.dataDir, "bench.json");
  if (!existsSync(file)) {
    if (existsSync(join(server.dataDir, "users.jsonl")))
      throw new Error(`${server.dataDir} holds a part of what a run that ended was to write: remove it`);
    const setting = await populate(server);
    if (users > 0) {
      // Its purge would read tables that have no index yet. PostgreSQL runs on, and is adopted by the next start.
      await server.kill("SIGKILL");
      await growDatabase(database, setting, users);
      await server.restart();
    }
    writeFileSync(file, JSON.stringify({ users, setting } satisfies Kept));
    return setting;
  }
  const kept = JSON.parse(readFileSync(file, "utf8")) as Kept;
  if (kept.users !== users) throw new Error(`${server.dataDir} holds ${kept.users} users, not ${users}`);
  return { ...kept.setting, origin: new URL(server.url).origin, cookie: await signIn(server.url) };
}

/** Imports the users and creates the keys that the load generator signs in with. */
export async function populate(server: RunningServer): Promise<Setting> {
  const cli = async (...words: string[]) => {
    const start = { cwd: server.dataDir, env: server.environment };
    const { code, out, err } = await runStile(words, start);
    if (code !== 0) throw new Error(err);
    return out.trim();
  };
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const { memory, passes } = configSchema.shape.password.parse({}).hash;
  const passwordHash = await hash(password, { memoryCost: memory, timeCost: passes, parallelism: 1 });
  const file = join(server.dataDir, "users.jsonl");
  writeFileSync(file, recordsOf({ passwordHash, totp }, publicKey));
  await cli("users", "import", file);
  const createKey = (name: string) => cli("keys", "create", "--interface", name);
  return {
    password,
    passwordHash,
    totp,
    passkey: String(privateKey.export({ format: "pem", type: "pkcs8" })),
    origin: new URL(server.url).origin,
    keys: {
      admin: await createKey("admin"),
      passkeys: await createKey("passkeys"),
      authenticator: await createKey("authenticator"),
    },
    cookie: await signIn(server.url),
    webhooks: WEBHOOKS,
  };
}

/** Subscribes the webhooks to logins. Returns what removes them. */
export async function addWebhooks(
  url: string,
  { keys, webhooks }: Setting,
  receivers: string,
): Promise<() => Promise<void>> {
  const call = async (method: string, path: string, body?: object) => {
    const answer = await fetch(`${url}/admin/webhooks${path}`, {
      method,
      headers: { "content-type": "application/json", authorization: `Bearer ${keys.admin}` },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    if (!answer.ok) throw new Error(`${method} /admin/webhooks: ${answer.status} ${await answer.text()}`);
    return answer;
  };
  const ids: string[] = [];
  for (let index = 0; index < webhooks; index += 1) {
    const made = await call("POST", "", { callback: `${receivers}/${index}`, events: ["user.login"] });
    ids.push(((await made.json()) as { id: string }).id);
  }
  return async () => {
    for (const id of ids) await call("DELETE", `/${id}`);
  };
}

/** Signs a user in for the session check; returns the cookie. */
async function signIn(url: string): Promise<string> {
  const client = flowClient(url);
  await client.start("login");
  await client.act("register_client_capabilities");
  await client.act("continue_with_login_identifier", { email: addressOf("password", 0) });
  if (client.state.actions.continue_to_password_login) await client.act("continue_to_password_login");
  await client.act("password_login", { password });
  while (client.state.actions.skip) await client.act("skip");
  const session = client.cookies.get("service");
  if (!session) throw new Error(`a login ended in ${JSON.stringify(client.state)}`);
  return `service=${session}`;
}

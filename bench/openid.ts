import { createHash, randomUUID } from "node:crypto";
import { cpus } from "node:os";
import { join } from "node:path";
import { configSchema } from "../server/config/schema.ts";
import { flowClient } from "../server/testing/flow-client.ts";
import { startServer } from "../server/testing/server.ts";
import { type Answer, type Connection, openConnection } from "./connection.ts";
import { type Figures, figuresOf, type Round } from "./figures.ts";
import { forkServer } from "./fork-server.ts";
import type { OpenidSettings } from "./openid/settings.ts";
import { cpuTime } from "./process.ts";

/**
 * `node scripts/run.js bench/openid.ts`: a single sign-on of a visitor with a session, from the authorization request over code
 * and tokens to UserInfo, and a refresh; Stile beside `oidc-provider` alone, with its adapter in memory, in turns.
 *
 * `OPENID_SECONDS` (1) of a round, `OPENID_ROUNDS` (5), `OPENID_CONNECTIONS` (1,16).
 */
const seconds = Number(process.env.OPENID_SECONDS ?? 1);
const rounds = Number(process.env.OPENID_ROUNDS ?? 5);
const numbers = (process.env.OPENID_CONNECTIONS ?? "1,16").split(",").map(Number);
const WARM_UP_SECONDS = 3;

const settings: OpenidSettings = {
  client: {
    id: "shop",
    secret: "a secret of the benchmark that has enough characters",
    redirectUri: "https://shop.example/callback",
  },
  scope: "openid email",
  claims: { email: "ada@example.com", email_verified: true },
};
const { client, scope } = settings;

interface Target {
  name: string;
  url: string;
  pid: number;
  paths: { authorize: string; token: string; userinfo: string };
  /** The cookies of a new visitor who is signed in. */
  cookies(): Promise<Map<string, string>>;
}

const verifier = "v".repeat(43);
const asked = new URLSearchParams({
  client_id: client.id,
  redirect_uri: client.redirectUri,
  response_type: "code",
  scope,
  state: "cart",
  nonce: "n",
  code_challenge: createHash("sha256").update(verifier).digest("base64url"),
  code_challenge_method: "S256",
});
const basic = Buffer.from(`${client.id}:${new URLSearchParams([["", client.secret]]).toString().slice(1)}`);
const authorization = `authorization: Basic ${basic.toString("base64")}\r\n`;

interface Tokens {
  access_token: string;
  refresh_token: string;
}

/** A browser and its application, over one connection. */
function visitor(connection: Connection, { paths }: Target, cookies: Map<string, string>) {
  async function call(
    method: string,
    path: string,
    expected: number[],
    body?: URLSearchParams,
    headers = "",
  ) {
    const answer = await connection.send(method, path, body, headers);
    if (!expected.includes(answer.status))
      throw new Error(`${method} ${path}: ${answer.status} ${answer.head} ${answer.body.slice(0, 500)}`);
    return answer;
  }
  const keep = ({ head }: Answer) => {
    for (const [, name = "", value = ""] of head.matchAll(/\r\nset-cookie: *([^=\r]+)=([^;\r]*)/gi))
      if (value === "") cookies.delete(name);
      else cookies.set(name, value);
  };
  const token = async (form: Record<string, string>) => {
    const answer = await call("POST", paths.token, [200], new URLSearchParams(form), authorization);
    return JSON.parse(answer.body) as Tokens;
  };

  async function code(): Promise<string> {
    for (let path = `${paths.authorize}?${asked}`; ; ) {
      const sent = [...cookies].map((one) => one.join("=")).join("; ");
      const answer = await call("GET", path, [302, 303], undefined, sent ? `cookie: ${sent}\r\n` : "");
      keep(answer);
      const location = /\r\nlocation: *([^\r]+)/i.exec(answer.head)?.[1] ?? "";
      const url = new URL(location, "http://127.0.0.1");
      if (location.startsWith(client.redirectUri)) return url.searchParams.get("code") ?? "";
      path = `${url.pathname}${url.search}`;
    }
  }

  async function signOn(): Promise<Tokens> {
    const form = {
      grant_type: "authorization_code",
      redirect_uri: client.redirectUri,
      code_verifier: verifier,
    };
    const tokens = await token({ ...form, code: await code() });
    const answer = await call(
      "GET",
      paths.userinfo,
      [200],
      undefined,
      `authorization: Bearer ${tokens.access_token}\r\n`,
    );
    if (!answer.body.includes('"email"')) throw new Error(`UserInfo says ${answer.body}`);
    return tokens;
  }

  let last = "";
  return {
    signOn,
    async refresh() {
      if (last === "") last = (await signOn()).refresh_token;
      last = (await token({ grant_type: "refresh_token", refresh_token: last })).refresh_token;
    },
  };
}

type Task = "signOn" | "refresh";

/** Has connections perform a task again and again. */
async function round(target: Target, task: Task, connections: number, forSeconds: number): Promise<Round> {
  const opened = await Promise.all(Array.from({ length: connections }, () => openConnection(target.url)));
  const visitors = await Promise.all(
    opened.map(async (connection) => visitor(connection, target, await target.cookies())),
  );
  // The first one of a visitor signs in, or makes the grant.
  for (const one of visitors) await one[task]();
  const latencies: number[] = [];
  const before = [cpuTime([target.pid]), process.cpuUsage()] as const;
  const begin = performance.now();
  let finished = begin;
  await Promise.all(
    visitors.map(async (one) => {
      for (let now = begin; now < begin + forSeconds * 1000; now = finished) {
        const from = performance.now();
        await one[task]();
        finished = performance.now();
        latencies.push(finished - from);
      }
    }),
  );
  const { user, system } = process.cpuUsage(before[1]);
  for (const connection of opened) connection.close();
  return {
    done: latencies.length,
    elapsedMs: finished - begin,
    latencies,
    refusals: [],
    cpuMs: cpuTime([target.pid]) - before[0],
    postgresCpuMs: Number.NaN,
    generatorCpuMs: (user + system) / 1000,
  };
}

const lifted = Object.keys(configSchema.shape.rate_limiter.parse({}))
  .filter((name) => name !== "enabled")
  .map((name) => [`STILE_RATE_LIMITER_${name.toUpperCase()}`, "1000000"]);
const stile = await startServer({
  env: {
    NODE_ENV: "production",
    ...Object.fromEntries(lifted),
    STILE_OPENID_ENABLED: "true",
    STILE_OPENID_CLIENTS: JSON.stringify({
      [client.id]: { name: "Shop", secret: client.secret, redirect_uris: [client.redirectUri] },
    }),
    STILE_EMAIL_REQUIRE_VERIFICATION: "false",
    STILE_PASSKEY_ENABLED: "false",
    STILE_MFA_ENABLED: "false",
  },
});
const bare = await forkServer(join(import.meta.dirname, "openid/bare.ts"), settings);

/** The cookie of a new user. */
async function register(): Promise<Map<string, string>> {
  const browser = flowClient(stile.url);
  await browser.start("registration");
  await browser.act("register_client_capabilities", { webauthn_available: false });
  await browser.act("register_login_identifier", { email: `${randomUUID()}@example.com` });
  await browser.act("register_password", { new_password: "correct horse battery staple" });
  return new Map([["service", browser.cookies.get("service") ?? ""]]);
}

const paths = { authorize: "/oauth/authorize", token: "/oauth/token", userinfo: "/oauth/userinfo" };
const people = await Promise.all(Array.from({ length: Math.max(...numbers) }, register));
let next = 0;
const targets: Target[] = [
  {
    name: "Stile",
    url: stile.url.replace("localhost", "127.0.0.1"),
    pid: stile.pid,
    paths,
    cookies: async () => new Map(people[next++ % people.length]),
  },
  {
    name: "oidc-provider in memory",
    url: bare.url,
    pid: bare.child.pid ?? 0,
    paths: { authorize: "/auth", token: "/token", userinfo: "/me" },
    cookies: async () => new Map(),
  },
];

try {
  process.stdout.write(`${cpus().length} × ${cpus()[0]?.model.trim()}, Node ${process.versions.node}; `);
  process.stdout.write(`${rounds} rounds of ${seconds} s, alternating, medians\n\n`);
  process.stdout.write(
    "| task | connections | Stile/s | p50, ms | p99, ms | CPU, ms | in memory/s | CPU, ms | ratio |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|\n",
  );
  for (const task of ["signOn", "refresh"] as const)
    for (const connections of numbers) {
      for (const target of targets) await round(target, task, connections, WARM_UP_SECONDS);
      const measured = targets.map((): Round[] => []);
      for (let turn = 0; turn < rounds; turn += 1)
        for (const [place, target] of targets.entries())
          measured[place]?.push(await round(target, task, connections, seconds));
      const [own, other] = measured.map(figuresOf) as [Figures, Figures];
      const cells = [
        own.perSecond.toFixed(0),
        own.p50.toFixed(1),
        own.p99.toFixed(1),
        own.cpu.toFixed(2),
        other.perSecond.toFixed(0),
        other.cpu.toFixed(2),
        (own.perSecond / other.perSecond).toFixed(2),
      ];
      process.stdout.write(`| ${task} | ${connections} | ${cells.join(" | ")} |\n`);
    }
} finally {
  bare.child.kill();
  await stile.stop();
}

import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import { flowClient } from "../server/testing/flow-client.ts";
import { type RunningServer, startServer } from "../server/testing/server.ts";
import type { Report, Result, Task } from "./load.ts";
import { cpuTime, residentMemory } from "./process.ts";
import { formatTable, type Row, toRow } from "./report.ts";
import { type LoginTimes, measureLogins } from "./webhook-logins.ts";

/**
 * `npm run bench`: measures a bare answer, a bare answer with the same database work by hand, and the steps of the
 * built server, in one run. It starts two other processes: the server and the load generator.
 */
const connections = Number(process.env.BENCH_CONNECTIONS ?? 16);
const seconds = Number(process.env.BENCH_SECONDS ?? 4);
const warmUp = Number(process.env.BENCH_WARM_UP ?? 1);

const load = fork(join(import.meta.dirname, "load.ts"));

/** A request, and the hand-written baseline it is compared with. */
type Measurement = [what: string, send: Task["send"], sameWork?: string, headers?: Record<string, string>];

interface Target {
  url: string;
  pid: number;
}

async function measure(target: Target, [what, send, sameWork, headers = {}]: Measurement): Promise<Row> {
  const task: Task = { url: target.url, headers, connections, warmUp, seconds, send };
  load.send(task);
  let from = 0;
  for (;;) {
    const [report] = (await once(load, "message")) as [Report];
    if ("failed" in report) throw new Error(`${what}: ${report.failed}`);
    if ("measuring" in report) from = cpuTime(target.pid);
    else return toRow(what, report.result satisfies Result, cpuTime(target.pid) - from, sameWork);
  }
}

const byHand = {
  answer: "bare node:http answer",
  start: "  + one INSERT of a flow",
  once: "  + claim and write, each of another flow",
  named: "  + claim, look-up of an address, write",
  challenge: "  + claim, write with a challenge",
  again: "  + claim and write, of one flow per connection",
  session: "  + look-up of a session",
};

const incapable = {
  webauthn_available: false,
  webauthn_conditional_mediation_available: false,
  webauthn_platform_authenticator_available: false,
};
const capable = {
  webauthn_available: true,
  webauthn_conditional_mediation_available: true,
  webauthn_platform_authenticator_available: true,
};
const named = { email: "unknown@example.com" };
const account = { email: "registered@example.com", password: "correct horse battery staple" };

const perform = (action: string, input: Record<string, unknown>) => ({
  kind: "once" as const,
  action,
  input,
});

/**
 * Each hand-written baseline, followed directly by Stile's steps that do the same work, so that both run under the same
 * load of the machine. A step continues the flows of the step before it.
 */
const pairs = (cookie: string): [bare: Measurement, ours: Measurement[]][] => [
  [
    [byHand.answer, { kind: "get", path: "/" }],
    [["GET /health/alive", { kind: "get", path: "/health/alive" }]],
  ],
  [
    [byHand.start, { kind: "start", path: "/start" }],
    [["flow start", { kind: "start", path: "/login" }, byHand.start]],
  ],
  [
    [byHand.once, perform("step", {})],
    [["preflight", perform("register_client_capabilities", incapable), byHand.once]],
  ],
  [
    [byHand.named, perform("named", {})],
    [["continue_with_login_identifier", perform("continue_with_login_identifier", named), byHand.named]],
  ],
  [
    ["  + one INSERT of a flow (again)", { kind: "start", path: "/start" }],
    [["flow start (again)", { kind: "start", path: "/login" }, byHand.start]],
  ],
  [
    [byHand.challenge, perform("challenge", {})],
    [["preflight with a challenge", perform("register_client_capabilities", capable), byHand.challenge]],
  ],
  [
    [byHand.again, { kind: "again", action: "step", input: {} }],
    [["remember_me", { kind: "again", action: "remember_me", input: { remember_me: true } }, byHand.again]],
  ],
  [
    [byHand.session, { kind: "get", path: "/session" }],
    [["session check", { kind: "get", path: "/sessions/validate" }, byHand.session, { cookie }]],
  ],
];

/** Registers a user for the session check. */
async function signUp(url: string): Promise<{ cookie: string; userId: string; sessionId: string }> {
  const client = flowClient(url);
  await client.start("registration");
  await client.act("register_client_capabilities", incapable);
  await client.act("register_login_identifier", { email: account.email });
  await client.act("register_password", { new_password: account.password });
  while (client.state.actions.skip) await client.act("skip");
  if (client.state.name !== "success")
    throw new Error(`registration ended in ${JSON.stringify(client.state)}`);
  const claims = client.state.payload.claims as { session_id: string; subject: string };
  const cookie = [...client.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
  return { cookie, userId: claims.subject, sessionId: claims.session_id };
}

/** Address of the database that the server runs itself. */
function embeddedDatabase(server: RunningServer): string {
  const port = readFileSync(join(server.dataDir, "postgres", "postmaster.pid"), "utf8").split("\n")[3];
  const password = readFileSync(join(server.dataDir, "postgres.password"), "utf8").trim();
  return `postgres://stile:${password}@127.0.0.1:${port}/stile`;
}

async function startBare(
  databaseUrl: string,
  sessionId: string,
): Promise<{ url: string; pid: number; child: ChildProcess }> {
  const tenant = "00000000-0000-4000-8000-000000000001";
  const child = fork(join(import.meta.dirname, "bare.ts"), [databaseUrl, tenant, sessionId]);
  const [{ port }] = (await once(child, "message")) as [{ port: number }];
  return { url: `http://127.0.0.1:${port}`, pid: child.pid ?? 0, child };
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const print = (text: string) => process.stdout.write(`${text}\n`);

const databaseUrl = process.env.DATABASE_URL;
const firstStart = performance.now();
const server = await startServer({
  env: {
    NODE_ENV: "production",
    STILE_RATE_LIMITER_ENABLED: "false",
    STILE_SESSION_COOKIE_RETENTION: "prompt",
    STILE_EMAIL_REQUIRE_VERIFICATION: "false",
    SMTP_URL: "smtp://127.0.0.1:1",
    STILE_WEBHOOKS_ALLOW_PRIVATE_TARGETS: "true",
    ...(databaseUrl ? { DATABASE_URL: databaseUrl } : {}),
  },
});
const first = performance.now() - firstStart;
try {
  const user = await signUp(server.url);
  await server.kill("SIGTERM");
  const laterStart = performance.now();
  await server.restart();
  const later = performance.now() - laterStart;
  await flowClient(server.url).start("login");
  await pause(5_000);
  const idle = residentMemory(server.pid);

  const bare = await startBare(databaseUrl ?? embeddedDatabase(server), user.sessionId);
  const bareRows: Row[] = [];
  const ourRows: Row[] = [];
  for (const [hand, ours] of pairs(user.cookie)) {
    bareRows.push(await measure(bare, hand));
    for (const one of ours) ourRows.push(await measure(server, one));
  }
  bare.child.disconnect();
  const logins = await measureLogins(server, account);
  await pause(5_000);
  const afterwards = residentMemory(server.pid);

  print(
    `\n${cpus().length} × ${cpus()[0]?.model}, Node ${process.versions.node}, ${connections} connections, ${seconds} s each\n`,
  );
  print(formatTable([...bareRows, ...ourRows]));
  const milliseconds = ({ median, mean, p95 }: LoginTimes) =>
    `median ${median.toFixed(1)}, mean ${mean.toFixed(1)}, p95 ${p95.toFixed(1)} ms`;
  print(`\na login from its start to its session: ${milliseconds(logins.without)}`);
  print(`the same with five webhooks:           ${milliseconds(logins.withWebhooks)}`);
  print(`\nstart to first answer: ${later.toFixed(0)} ms (${first.toFixed(0)} ms with an empty data folder)`);
  print(
    `resident memory of our process: ${idle.toFixed(0)} MiB idle, ${afterwards.toFixed(0)} MiB after the load`,
  );
} finally {
  load.disconnect();
  await server.stop();
}

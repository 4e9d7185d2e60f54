import { fork } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { flowClient } from "../server/testing/flow-client.ts";
import { startServer } from "../server/testing/server.ts";
import { openConnection } from "./connection.ts";
import { percentile } from "./figures.ts";
import { cpuTime, residentMemory } from "./process.ts";
import { Overloaded, type Visit, visit } from "./visit.ts";

/**
 * `node scripts/run.js bench/under-load.ts`: connections sign in by password without a pause, while probes ask for
 * `/sessions/validate` and `/health/alive`. Prints the probes' times beside those of the idle server in the same run,
 * how the logins ended, and the memory of each process at the start, at half-time and at the end.
 *
 * `LOAD_CONNECTIONS` (128), `LOAD_SECONDS` (20), `LOAD_WORKERS` (1), `LOAD_PATIENT` (true). Build the server first.
 */
const connections = Number(process.env.LOAD_CONNECTIONS ?? 128);
const seconds = Number(process.env.LOAD_SECONDS ?? 20);
/** Whether a connection that is told to wait does so, or begins the next login at once. */
const isPatient = process.env.LOAD_PATIENT !== "false";
const workers = process.env.LOAD_WORKERS ?? "1";

const PROBE_INTERVAL_MS = 25;
const password = "correct horse battery staple";
const email = (person: number) => `person${person}@example.com`;

/** What the process of the load is told, and answers with. */
type Order = { url: string; until: number };
type Endings = Record<string, number>;

if (process.argv[2] === "load") process.once("message", (order: Order) => void load(order));
else await measure();

async function measure(): Promise<void> {
  const server = await startServer({
    env: {
      STILE_SERVER_WORKERS: workers,
      STILE_RATE_LIMITER_ENABLED: "false",
      STILE_MFA_ACQUIRE_ON_REGISTRATION: "false",
      STILE_PASSKEY_ENABLED: "false",
      STILE_EMAIL_REQUIRE_VERIFICATION: "false",
      STILE_EMAIL_USE_FOR_AUTHENTICATION: "false",
    },
  });
  try {
    const people = Array.from({ length: connections }, (_, person) => person);
    while (people.length > 0)
      await Promise.all(people.splice(-4).map((person) => register(server.url, person)));
    const cookie = await register(server.url, connections);
    const idle = await probe(server.url, cookie, performance.now() + 3_000);
    const memory = [memoryOf(server.pid)];
    const before = cpuOf(server.pid);
    const loading = fork(import.meta.filename, ["load"]);
    loading.send({ url: server.url, until: Date.now() + seconds * 1_000 } satisfies Order);
    const endings = once(loading, "message");
    const half = pause((seconds / 2) * 1_000).then(() => memory.push(memoryOf(server.pid)));
    const busy = await probe(server.url, cookie, performance.now() + seconds * 1_000);
    const used = cpuOf(server.pid) - before;
    await half;
    const [ended] = (await endings) as [Endings];
    memory.push(memoryOf(server.pid));
    const figures = {
      idle,
      busy,
      logins: ended,
      cores_of_the_server: used / seconds / 1_000,
      mebibytes_at_start_half_time_and_end: memory,
    };
    process.stdout.write(`${JSON.stringify(figures, null, 2)}\n`);
  } finally {
    await server.stop();
  }
}

async function register(url: string, person: number): Promise<string> {
  const client = flowClient(url);
  await client.start("registration");
  await client.act("register_client_capabilities");
  await client.act("register_login_identifier", { email: email(person) });
  await client.act("register_password", { new_password: password });
  return [...client.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
}

/** Milliseconds of each answer, one request of each address at a time, each address over a connection of its own. */
async function probe(url: string, cookie: string, until: number) {
  const times: Record<string, number[]> = { "/sessions/validate": [], "/health/alive": [] };
  await Promise.all(
    Object.entries(times).map(async ([path, taken]) => {
      const connection = await openConnection(url, { cookie });
      while (performance.now() < until) {
        const from = performance.now();
        const { status } = await connection.send("GET", path);
        taken.push(performance.now() - from);
        if (status !== 200) throw new Error(`${path}: ${status}`);
        await pause(PROBE_INTERVAL_MS);
      }
      connection.close();
    }),
  );
  return Object.fromEntries(Object.entries(times).map(([path, taken]) => [path, percentiles(taken)]));
}

function percentiles(taken: number[]) {
  const at = (share: number) => Math.round(percentile(taken, share) * 10) / 10;
  return { requests: taken.length, p50: at(0.5), p99: at(0.99), max: at(0.9999) };
}

/** Signs in until a time, and counts how the logins ended: by state or error, with the longest wait in ms. */
async function load({ url, until }: Order): Promise<void> {
  const endings: Endings = {};
  await Promise.all(
    Array.from({ length: connections }, async (_, person) => {
      let connection = await openConnection(url);
      while (Date.now() < until) {
        const from = performance.now();
        let [ending, waits] = ["", 0];
        try {
          ending = await login(visit(connection), person);
        } catch (error) {
          ending = String(error);
          if (error instanceof Overloaded) waits = error.seconds;
          else {
            connection.close();
            connection = await openConnection(url);
          }
        }
        endings[ending] = (endings[ending] ?? 0) + 1;
        const longest = `${ending}: longest, ms`;
        endings[longest] = Math.max(endings[longest] ?? 0, Math.round(performance.now() - from));
        if (isPatient) await pause(waits * 1_000);
      }
      connection.close();
    }),
  );
  process.send?.(endings, () => process.exit(0));
}

/** @returns the name of the state that the flow ends in */
async function login(own: Visit, person: number): Promise<string> {
  await own.start("login");
  await own.act("register_client_capabilities");
  await own.act("continue_with_login_identifier", { email: email(person) });
  const { name } = await own.act("password_login", { password });
  return name;
}

/** The server's processes: the first one, and its workers. PostgreSQL is another program. */
function processesOf(pid: number): number[] {
  const isWorker = (each: string) => {
    try {
      const [, parent] =
        /^\d+ \(.*\) \w (\d+)/s.exec(readFileSync(join("/proc", each, "stat"), "utf8")) ?? [];
      return (
        Number(parent) === pid && readFileSync(join("/proc", each, "cmdline"), "utf8").includes("main.js")
      );
    } catch {
      return false;
    }
  };
  return [
    pid,
    ...readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name) && isWorker(name))
      .map(Number),
  ];
}

function memoryOf(pid: number): number[] {
  return processesOf(pid).map((each) => Math.round(residentMemory([each])));
}

function cpuOf(pid: number): number {
  return cpuTime(processesOf(pid));
}

import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { openConnection } from "./connection.ts";
import { postmasterOf } from "./database.ts";
import { percentile } from "./figures.ts";
import { perform } from "./load.ts";
import { processTree, residentMemory } from "./process.ts";
import { populate, startMeasured } from "./service.ts";
import { makeWays } from "./ways.ts";
import { startWorld } from "./world.ts";

/**
 * `node scripts/run.js bench/under-load.ts`: connections sign in by password without a pause, while probes ask for
 * `/sessions/validate` and `/health/alive`. Prints the probes' times beside those of the idle server in the same run,
 * those of the logins and of the answers that told to wait, and the memory of each process at the start, at half-time
 * and at the end.
 *
 * `LOAD_CONNECTIONS` (128), `LOAD_SECONDS` (20), `LOAD_WORKERS` (1), `LOAD_PATIENT` (true). Build the server first.
 */
const connections = Number(process.env.LOAD_CONNECTIONS ?? 128);
const seconds = Number(process.env.LOAD_SECONDS ?? 20);
/** Whether a connection that is told to wait does so, or begins the next login at once. */
const isPatient = process.env.LOAD_PATIENT !== "false";
const workers = process.env.LOAD_WORKERS ?? "1";

const PROBE_INTERVAL_MS = 25;
const IDLE_SECONDS = 3;

/** What the process of the probes is told. */
interface Order {
  url: string;
  cookie: string;
  seconds: number;
}

// In a process of their own, so that their times hold nothing of the load generator's.
if (process.argv[2] === "probe")
  process.once("message", async (order: Order) => process.send?.(await probe(order), () => process.exit(0)));
else await measure();

async function measure(): Promise<void> {
  const world = await startWorld();
  const folder = mkdtempSync(join(tmpdir(), "stile load "));
  const server = await startMeasured(world.addresses, folder, { STILE_SERVER_WORKERS: workers });
  try {
    const setting = await populate(server);
    const pids = () => processTree(server.pid, { except: postmasterOf(server) });
    const memory = () => pids().map((pid) => Math.round(residentMemory([pid])));
    const probed = async (during: number) => {
      const probing = fork(import.meta.filename, ["probe"]);
      probing.send({ url: server.url, cookie: setting.cookie, seconds: during } satisfies Order);
      const [times] = await once(probing, "message");
      return times;
    };
    const idle = await probed(IDLE_SECONDS);
    const atStart = memory();
    const half = pause((seconds / 2) * 1_000).then(memory);
    const way = makeWays(world, setting).clients.passwordLogin;
    const [busy, logins] = await Promise.all([
      probed(seconds),
      perform({ url: server.url, pids, postgres: null }, { way, connections, until: { seconds }, isPatient }),
    ]);
    const figures = {
      idle,
      busy,
      logins: percentiles(logins.latencies),
      told_to_wait: percentiles(logins.refusals),
      cores_of_the_server: logins.cpuMs / logins.elapsedMs,
      mebibytes_at_start_half_time_and_end: [atStart, await half, memory()],
    };
    process.stdout.write(`${JSON.stringify(figures, null, 2)}\n`);
  } finally {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Milliseconds of each answer, one request of each address at a time, each address over a connection of its own. */
async function probe({ url, cookie, seconds: during }: Order) {
  const until = performance.now() + during * 1_000;
  const times = ["/sessions/validate", "/health/alive"].map(async (path) => {
    const taken: number[] = [];
    const connection = await openConnection(url, { cookie });
    while (performance.now() < until) {
      const from = performance.now();
      const { status } = await connection.send("GET", path);
      taken.push(performance.now() - from);
      if (status !== 200) throw new Error(`${path}: ${status}`);
      await pause(PROBE_INTERVAL_MS);
    }
    connection.close();
    return [path, percentiles(taken)] as const;
  });
  return Object.fromEntries(await Promise.all(times));
}

function percentiles(taken: readonly number[]) {
  const at = (share: number) => Math.round(percentile(taken, share) * 10) / 10;
  return { count: taken.length, p50: at(0.5), p99: at(0.99), max: at(1) };
}

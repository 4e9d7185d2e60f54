import { mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { flowClient } from "../server/testing/flow-client.ts";
import { freePort } from "../server/testing/free-port.ts";
import type { RunningServer } from "../server/testing/server.ts";
import { type BenchDatabase, openDatabase, postmasterOf } from "./database.ts";
import { type Figures, figuresOf, percentile, type Round } from "./figures.ts";
import type { ForkedServer } from "./fork-server.ts";
import { hashesPerSecond } from "./hash-bound.ts";
import { giveHashesACore, oneHashAtOnce, poolTime, sharesText } from "./hash-core.ts";
import { type Load, perform, type Target } from "./load.ts";
import { makePeerWays } from "./peer-ways.ts";
import { grownPeople, importedPeople } from "./people.ts";
import { processTree, residentMemory } from "./process.ts";
import { printProfile, profilable } from "./profile.ts";
import { asMarkdown, type Growth, type Line, type Report, type ServerName, writeDocs } from "./report.ts";
import { addWebhooks, prepare, startMeasured } from "./service.ts";
import type { Setting } from "./setting.ts";
import { startBare } from "./start-bare.ts";
import { peerVersion, startPeer } from "./start-peer.ts";
import { JUDGED_CONNECTIONS, type Measured, tasks } from "./tasks.ts";
import type { WalkName } from "./walks.ts";
import { makeWays, type Way, type WayName } from "./ways.ts";
import { startWorld } from "./world.ts";

/** `npm run bench`: measures whole tasks beside a hand-made server, in one run. `bench/README.md` says how to read it. */

const words = process.argv.slice(2);
/** Each task once, to see that the benchmark works. */
const isShort = words.includes("--short");
const only = words.find((word) => word.startsWith("--only="))?.slice("--only=".length);
const chosen = tasks.filter(
  ({ way, walk }) =>
    only === undefined || only.split(",").some((name) => name === way || name === `${way}:${walk}`),
);
const profiles = words.includes("--profile");
const numberOf = (name: string, fallback: number) => Number(process.env[name] ?? fallback);
const seconds = numberOf("BENCH_SECONDS", 1);
const warmUp = numberOf("BENCH_WARM_UP", 3);
const processors = availableParallelism();
const workers = numberOf("BENCH_WORKERS", 1);
const users = numberOf("BENCH_USERS", 0);
/** Whether one processor hashes and another does everything else. */
const hasHashCore = process.env.BENCH_HASH_CORE === "1";
/** What is observed: `traces` and `metrics` are sent; `scraped` metrics are asked for each second. */
const observing = (process.env.BENCH_OBSERVED ?? "").split(",").filter((word) => word !== "");
/** Whether the steps of flows are recorded, as they are by default. */
const isRecorded = process.env.BENCH_RECORDER !== "0";
const mixedSeconds = numberOf("BENCH_MIXED_SECONDS", 0);
const connectionCounts = isShort ? [1] : (process.env.BENCH_CONNECTIONS ?? "1,16,128").split(",").map(Number);
const ROUNDS = isShort ? 1 : 5;
/** Tasks of the pass that counts statements: more than background work repeats in its time. */
const COUNTED_TASKS = 10;
/** Seconds of a task before the next one has its turn, where the memory is watched. */
const TURN_SECONDS = 5;

/** A measured server, with its ways to do the tasks. */
interface Contestant extends Target {
  name: ServerName;
  ways: Record<WalkName, Partial<Record<WayName, Way>>>;
}

const print = (text: string) => process.stdout.write(`${text}\n`);

// An exit, unlike the signal, also stops the server.
process.once("SIGINT", () => process.exit(130));

const world = await startWorld();
const folder = mkdtempSync(join(tmpdir(), "stile bench "));
const firstStart = performance.now();
const settings = {
  // So many connections may wait for a hash, as 128 that sign in at once do.
  STILE_PASSWORD_HASH_QUEUE: "1000",
  STILE_SERVER_WORKERS: String(workers),
  ...(profiles ? profilable : {}),
  ...(hasHashCore ? oneHashAtOnce : {}),
  ...(isRecorded ? {} : { STILE_RECORDER_ENABLED: "false" }),
  ...(observing.length > 0 ? await observed() : {}),
};
const server = await startMeasured(world.addresses, folder, settings, {
  dataDir: process.env.BENCH_DATA,
});
const firstStartMs = performance.now() - firstStart;
const forked: ForkedServer[] = [];
let database: BenchDatabase | undefined;
try {
  const idle = await startAnew(server);
  database = await openDatabase(server);
  const setting = await prepare(server, database, users);
  const ours: Contestant = {
    name: "ours",
    url: server.url,
    pids: ownProcesses,
    postgres: database.pid,
    ways: makeWays(world, setting, users > 0 ? grownPeople(users) : importedPeople()),
  };
  if (mixedSeconds > 0) await watchMemory(ours);
  const lines = mixedSeconds > 0 ? [] : await measureAll(database, ours, setting);
  for (const { child } of forked) child.disconnect();
  const growth = mixedSeconds > 0 ? [] : await measureGrowth(database, ours, setting);
  const report: Report = {
    conditions: conditionsOf(database),
    processors: hasHashCore ? 1 : processors,
    lines,
    growth,
    process: { ...idle, firstStartMs, peakMiB: residentMemory(ownProcesses(), "VmHWM") },
  };
  print(`\n${asMarkdown(report)}`);
  if (words.includes("--write")) writeDocs(report);
} catch (error) {
  print(server.logs().slice(-2_000));
  throw error;
} finally {
  await database?.close();
  for (const { child } of forked) if (child.connected) child.disconnect();
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
}

/** Settings of a server that is observed. */
async function observed(): Promise<Record<string, string>> {
  const exporter = (signal: string) => (observing.includes(signal) ? "otlp" : "none");
  const sent = {
    OTEL_EXPORTER_OTLP_ENDPOINT: world.addresses.telemetry,
    OTEL_TRACES_EXPORTER: exporter("traces"),
    OTEL_METRICS_EXPORTER: exporter("metrics"),
  };
  if (!observing.includes("scraped")) return sent;
  const port = await freePort();
  const scrape = () => fetch(`http://127.0.0.1:${port}/metrics`).then((answer) => answer.text());
  setInterval(() => void scrape().catch(() => {}), 1_000).unref();
  return { ...sent, STILE_METRICS_PORT: String(port) };
}

function conditionsOf({ version }: BenchDatabase): string {
  const date = new Date().toISOString().slice(0, 10);
  const peer = peerVersion();
  return [
    `${cpus().length} × ${cpus()[0]?.model.trim()}, Node ${process.versions.node}, ${version}, ${date}`,
    ...(peer ? [`better-auth ${peer}`] : []),
    ...(users > 0 ? [`${users} users`] : []),
    ...(workers > 1 ? [`${workers} workers`] : []),
    ...(observing.length > 0 ? [`observed: ${observing.join(", ")}`] : []),
    ...(hasHashCore ? ["one processor hashes, one does everything else"] : []),
    `${ROUNDS} rounds of ${seconds} s each, alternating, medians`,
  ].join("; ");
}

/** Stile's process and its workers, without the PostgreSQL that it runs. */
function ownProcesses(): number[] {
  return processTree(server.pid, { except: postmasterOf(server) });
}

/** Restarts the server three times; returns its time to the first answer, and its memory while nothing happens. */
async function startAnew(running: RunningServer): Promise<{ startMs: number; idleMiB: number }> {
  const times: number[] = [];
  for (let start = 0; start < (isShort ? 1 : 3); start += 1) {
    await running.kill("SIGTERM");
    const startedAt = performance.now();
    await running.restart();
    times.push(performance.now() - startedAt);
  }
  await flowClient(running.url).start("login");
  if (!isShort) await pause(5_000);
  return { startMs: percentile(times, 0.5), idleMiB: residentMemory(ownProcesses()) };
}

/**
 * Gives every task its turn again and again, and prints after each cycle what was done and what memory the processes
 * take: a server that keeps something of each request grows. A cycle that has begun is finished.
 */
async function watchMemory(ours: Contestant): Promise<void> {
  const begin = performance.now();
  let [done, elapsed] = [0, 0];
  print("minutes, tasks, MiB of the server, MiB of PostgreSQL");
  while (elapsed < mixedSeconds) {
    for (const task of chosen.filter(({ webhooks }) => !webhooks)) {
      const turn = { connections: JUDGED_CONNECTIONS, until: { seconds: TURN_SECONDS } };
      done += (await performOn(ours, task, turn)).done;
    }
    elapsed = (performance.now() - begin) / 1000;
    const postgres = ours.postgres === null ? Number.NaN : residentMemory(processTree(ours.postgres));
    const figures = [elapsed / 60, done, residentMemory(ours.pids()), postgres];
    print(figures.map((figure) => figure.toFixed(0)).join(", "));
  }
}

async function measureAll(database: BenchDatabase, ours: Contestant, setting: Setting): Promise<Line[]> {
  const contestant = (name: ServerName, ways: Contestant["ways"], started: ForkedServer): Contestant => {
    forked.push(started);
    const { url, child } = started;
    return { name, url, ways, pids: () => processTree(child.pid ?? 0), postgres: database.pid };
  };
  const bare = await startBare(server.url, setting, world.addresses, database.url);
  const all = [contestant("bare", ours.ways, bare), ours];
  for (const name of ["peer", "mailingPeer"] as const) {
    if (!peerVersion() || !chosen.some(({ peers }) => peers?.includes(name))) continue;
    const mails = name === "mailingPeer";
    const beside = await database.createBeside(`bench_${name.toLowerCase()}`);
    const peer = await startPeer(setting, beside, mails ? world.addresses.smtp : null);
    const ways = makePeerWays(setting, mails ? world.nextCode : null);
    all.push(contestant(name, { page: ways, clients: ways }, peer));
  }

  const lines: Line[] = [];
  for (const task of chosen) {
    const remove = task.webhooks ? await addWebhooks(server.url, setting, world.addresses.receivers) : null;
    const measured = all.filter(
      ({ name }) => name === "bare" || name === "ours" || task.peers?.includes(name),
    );
    const statements = await countStatements(database, measured, task);
    await warm(measured, task, connectionCounts[0] ?? 1);
    if (hasHashCore) {
      const ofServers = measured.flatMap((one) => one.pids());
      giveHashesACore([process.pid, ...ofServers, ...(database.pid ? processTree(database.pid) : [])]);
    }
    for (const connections of connectionCounts) {
      const { figures, ...bound } = await measureTask(measured, task, connections, setting);
      const named = measured.map(({ name }, index) => [name, figures[index]]);
      const line: Line = { task, connections, ...Object.fromEntries(named), ...bound };
      lines.push(statements ? { ...line, statements } : line);
      const rates = measured.map(({ name }) => `${name} ${line[name]?.perSecond.toFixed(1)}`);
      print(`${task.name}, ${connections}: ${rates.join(", ")} per second`);
    }
    // What the time of Stile's processes goes into, in passes of their own.
    const pass = { connections: JUDGED_CONNECTIONS, until: { seconds: Math.max(3, seconds) } };
    if (hasHashCore) {
      const before = poolTime(ours.pids());
      const round = await performOn(ours, task, pass);
      print(sharesText(round, poolTime(ours.pids()) - before));
    }
    if (profiles)
      await printProfile(task.name, server.logs(), ours.pids(), () => performOn(ours, task, pass));
    await remove?.();
  }
  return lines;
}

/**
 * Measures Stile with a worker for each processor, in turns with the one worker of the other tables. The second server
 * works on the same database, with the same keys and under the same address, so that it knows the same users.
 */
async function measureGrowth({ url }: BenchDatabase, ours: Contestant, setting: Setting): Promise<Growth[]> {
  const growing = chosen.filter(({ aims }) => aims.some((aim) => "growth" in aim));
  const connections = isShort ? 1 : JUDGED_CONNECTIONS;
  const isMeasured =
    workers === 1 && processors > 1 && !hasHashCore && connectionCounts.includes(connections);
  if (!isMeasured || growing.length === 0) return [];
  const second = await startMeasured(world.addresses, folder, {
    ...settings,
    STILE_SERVER_WORKERS: String(processors),
    DATABASE_URL: url,
    BASE_URL: server.url,
    SECRET_KEYS: server.environment.SECRET_KEYS ?? "",
  });
  try {
    const grown: Contestant = { ...ours, url: second.url, pids: () => processTree(second.pid) };
    const found: Growth[] = [];
    for (const task of growing) {
      await warm([ours, grown], task, connections);
      const [one, all] = (await measureTask([ours, grown], task, connections, setting)).figures;
      if (!one || !all) continue;
      found.push({ task, workers: processors, one, all });
      print(
        `${task.name}, 1 and ${processors} workers: ${one.perSecond.toFixed(1)}, ${all.perSecond.toFixed(1)}`,
      );
    }
    return found;
  } finally {
    await second.stop();
  }
}

/** Has the servers compile what a task uses. */
async function warm(contestants: readonly Contestant[], task: Measured, connections: number): Promise<void> {
  if (isShort) return;
  for (const one of contestants) await performOn(one, task, { connections, until: { seconds: warmUp } });
}

/** Measures the servers in turns, so that they meet the same load of the machine. */
async function measureTask(
  contestants: readonly Contestant[],
  task: Measured,
  connections: number,
  setting: { password: string; passwordHash: string },
): Promise<{ figures: Figures[]; hashesPerSecond?: number }> {
  const rounds = contestants.map((): Round[] => []);
  const bounds: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const atOnce = hasHashCore ? 1 : Math.min(connections, processors);
    if (task.aims.some((aim) => "of" in aim && aim.of === "hash"))
      bounds.push(await hashesPerSecond(setting, atOnce, seconds));
    const until = isShort ? { times: 1 } : { seconds };
    for (const [index, one] of contestants.entries())
      rounds[index]?.push(await performOn(one, task, { connections, until }));
  }
  return {
    figures: rounds.map(figuresOf),
    ...(bounds.length > 0 ? { hashesPerSecond: percentile(bounds, 0.5) } : {}),
  };
}

/** Statements of one task by server; null if they cannot be counted. */
async function countStatements(
  database: BenchDatabase,
  contestants: readonly Contestant[],
  task: Measured,
): Promise<NonNullable<Line["statements"]> | null> {
  const counts: [ServerName, number][] = [];
  for (const one of contestants) {
    const counted = await database.statementsOf(COUNTED_TASKS, (prepared) =>
      performOn(one, task, { connections: 1, until: { times: COUNTED_TASKS }, prepared }),
    );
    if (!counted) return null;
    counts.push([one.name, counted.count]);
    if (words.includes("--statements"))
      for (const { times, text } of counted.texts)
        print(`${task.way}:${task.walk} ${one.name} ${times} ${text.slice(0, 160)}`);
  }
  return Object.fromEntries(counts);
}

async function performOn(one: Contestant, task: Measured, load: Omit<Load, "way" | "home">): Promise<Round> {
  const way = one.ways[task.walk][task.way];
  if (!way) throw new Error(`${one.name} has no way ${task.way}`);
  return perform(one, { ...load, way, home: server.url });
}

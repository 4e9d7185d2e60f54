import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { flowClient } from "../server/testing/flow-client.ts";
import type { RunningServer } from "../server/testing/server.ts";
import { type BenchDatabase, openDatabase, postmasterOf } from "./database.ts";
import { type Figures, figuresOf, type Round } from "./figures.ts";
import { growDatabase } from "./growth.ts";
import type { HashTask } from "./hash-bound.ts";
import type { Report as LoadReport, Task } from "./load.ts";
import { loadMixed } from "./mixed-load.ts";
import { cpuTime, peakMemory, processTree, residentMemory } from "./process.ts";
import { profilable, profileOf } from "./profile.ts";
import { asText, type Line, type Report, writeDocs } from "./report.ts";
import { addWebhooks, type Populated, populate, startMeasured } from "./service.ts";
import { startBare } from "./start-bare.ts";
import { peerVersion, startPeer } from "./start-peer.ts";
import { JUDGED_CONNECTIONS, type Measured, tasks } from "./tasks.ts";

/** `npm run bench`: measures whole tasks beside a hand-made server, in one run. `bench/README.md` says how to read it. */

const words = process.argv.slice(2);
/** Each task once, to see that the benchmark works. */
const isShort = words.includes("--short");
const only = words
  .find((word) => word.startsWith("--only="))
  ?.slice("--only=".length)
  .split(",");
const chosen = tasks.filter(({ way }) => only === undefined || only.includes(way));
const profiles = words.includes("--profile");
const numbers = (name: string, fallback: string) => (process.env[name] ?? fallback).split(",").map(Number);
const [seconds = 1] = numbers("BENCH_SECONDS", "1");
const [warmUp = 3] = numbers("BENCH_WARM_UP", "3");
const [users = 0] = numbers("BENCH_USERS", "0");
const [mixedSeconds = 0] = numbers("BENCH_MIXED_SECONDS", "0");
const connectionCounts = isShort ? [1] : numbers("BENCH_CONNECTIONS", "1,16,128");
const ROUNDS = isShort ? 1 : 5;
/** Tasks of the pass that counts statements: more than background work repeats in its time. */
const COUNTED_TASKS = 10;

/** A measured server: its name as in `Line`. */
interface Target {
  name: "bare" | "ours" | "peer";
  url: string;
  pids(): number[];
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const print = (text: string) => process.stdout.write(`${text}\n`);

// An exit, unlike the signal, also stops the server.
process.once("SIGINT", () => process.exit(130));

const load = fork(join(import.meta.dirname, "load.ts"));
const [first] = (await once(load, "message")) as [LoadReport];
if (!("ready" in first)) throw new Error("the load generator did not start");
const world = first.ready;

const folder = mkdtempSync(join(tmpdir(), "stile bench "));
const firstStart = performance.now();
const server = await startMeasured(world, folder, profiles ? profilable : {});
const firstStartMs = performance.now() - firstStart;
const children: ChildProcess[] = [load];
let database: BenchDatabase | undefined;
try {
  const idle = await startAnew(server);
  database = await openDatabase(server);
  if (users > 0) await growDatabase(database.url, users);
  const populated = await populate(server);
  load.send({ setting: populated.setting });
  if (mixedSeconds > 0) await loadForMemory(database, mixedSeconds);
  const lines = mixedSeconds > 0 ? [] : await measureAll(database, populated);
  const report: Report = {
    conditions: conditionsOf(database),
    lines,
    process: { ...idle, firstStartMs, peakMiB: peakMemory(ours().pids()) },
  };
  print(`\n${asText(report)}`);
  if (words.includes("--write")) writeDocs(report);
} catch (error) {
  print(server.logs().slice(-2_000));
  throw error;
} finally {
  await database?.close();
  for (const child of children) child.disconnect();
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
}

function conditionsOf({ version }: BenchDatabase): string {
  const [processor] = cpus();
  const date = new Date().toISOString().slice(0, 10);
  const peer = peerVersion();
  return [
    `${cpus().length} × ${processor?.model.trim()}, Node ${process.versions.node}, ${version}, ${date}`,
    ...(peer ? [`better-auth ${peer}`] : []),
    ...(users > 0 ? [`${users} users`] : []),
    ...(process.env.BENCH_WORKERS ? [`${process.env.BENCH_WORKERS} workers`] : []),
    `${ROUNDS} rounds of ${seconds} s each, alternating, medians`,
  ].join("; ");
}

/** Stile as a target: its process and its workers, without the PostgreSQL that it runs. */
function ours(): Target {
  return {
    name: "ours",
    url: server.url,
    pids: () => processTree(server.pid, { except: postmasterOf(server) }),
  };
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
  const [startMs = Number.NaN] = times.toSorted((one, other) => one - other).slice(-2);
  return { startMs, idleMiB: residentMemory(ours().pids()) };
}

/** Performs all tasks in turns for a time, and prints the memory that the server takes. */
async function loadForMemory(database: BenchDatabase, mixed: number): Promise<void> {
  await loadMixed(mixed, {
    tasks: chosen,
    async perform({ way }, turn) {
      const until = { seconds: turn };
      const round = await perform(database, ours(), { way, connections: JUDGED_CONNECTIONS, until });
      return round.done;
    },
    memory: () => ({
      server: residentMemory(ours().pids()),
      postgres: database.pid === null ? Number.NaN : residentMemory(processTree(database.pid)),
    }),
    print,
  });
}

async function measureAll(database: BenchDatabase, populated: Populated): Promise<Line[]> {
  const { setting, passwordHash, adminKey } = populated;
  const started = (name: Target["name"], { url, child }: { url: string; child: ChildProcess }): Target => {
    children.push(child);
    return { name, url, pids: () => processTree(child.pid ?? 0) };
  };
  const bare = started("bare", await startBare(server.url, setting, world, database.url));
  const peer = peerVersion()
    ? started("peer", await startPeer(setting, await database.createBeside("bench_peer")))
    : null;
  const hashing = fork(join(import.meta.dirname, "hash-bound.ts"));
  children.push(hashing);

  const lines: Line[] = [];
  for (const task of chosen) {
    const remove = task.webhooks ? await addWebhooks(server.url, adminKey, world.receivers) : null;
    const targets = [bare, ours(), ...(peer && task.peer ? [peer] : [])];
    const statements = await countStatements(database, targets, task);
    for (const [index, connections] of connectionCounts.entries()) {
      const hashed = {
        password: setting.password,
        hash: passwordHash,
        atOnce: Math.min(connections, availableParallelism()),
        seconds,
      };
      const isHashed = task.aims.some(({ of }) => of === "hash");
      const line = await measureTask(database, targets, { task, connections }, () =>
        isHashed ? hashesPerSecond(hashing, hashed) : null,
      );
      lines.push(statements && index === 0 ? { ...line, statements } : line);
      const rates = targets.map(({ name }) => `${name} ${line[name]?.perSecond.toFixed(1)}`);
      print(`${task.name}, ${connections}: ${rates.join(", ")} per second`);
    }
    if (profiles) await printProfile(database, task);
    await remove?.();
  }
  return lines;
}

/** Says what the time of Stile's processes goes into, in a pass of its own. */
async function printProfile(database: BenchDatabase, { name, way }: Measured): Promise<void> {
  const until = { seconds: Math.max(3, seconds) };
  const shares = await profileOf(server.logs(), ours().pids(), () =>
    perform(database, ours(), { way, connections: JUDGED_CONNECTIONS, until }),
  );
  print(`profile of ${name}:`);
  for (const { what, share } of shares) print(`  ${(share * 100).toFixed(1).padStart(5)} %  ${what}`);
}

/** Measures the servers in turns, so that they meet the same load of the machine. */
async function measureTask(
  database: BenchDatabase,
  targets: readonly Target[],
  { task, connections }: { task: Measured; connections: number },
  hashes: () => Promise<number> | null,
): Promise<Line> {
  const rounds = targets.map((): Round[] => []);
  const bounds: number[] = [];
  const until = isShort ? { times: 1 } : { seconds };
  const isFirst = connections === connectionCounts[0];
  for (const target of isFirst && !isShort ? targets : [])
    await perform(database, target, { way: task.way, connections, until: { seconds: warmUp } });
  for (let round = 0; round < ROUNDS; round += 1) {
    const bound = hashes();
    if (bound) bounds.push(await bound);
    for (const [index, target] of targets.entries())
      rounds[index]?.push(await perform(database, target, { way: task.way, connections, until }));
  }
  const [bare, own, peer] = rounds.map(figuresOf) as [Figures, Figures, Figures | undefined];
  const [bound] = bounds.toSorted((one, other) => one - other).slice(bounds.length / 2);
  return {
    task,
    connections,
    bare,
    ours: own,
    ...(peer ? { peer } : {}),
    ...(bound === undefined ? {} : { hashesPerSecond: bound }),
  };
}

async function hashesPerSecond(hashing: ChildProcess, task: HashTask): Promise<number> {
  hashing.send(task);
  const [{ done, elapsedMs }] = (await once(hashing, "message")) as [{ done: number; elapsedMs: number }];
  return (done / elapsedMs) * 1000;
}

/** Statements of one task by server; null if they cannot be counted. */
async function countStatements(
  database: BenchDatabase,
  targets: readonly Target[],
  { way }: Measured,
): Promise<Line["statements"] | null> {
  const counts: Partial<Record<Target["name"], number>> = {};
  for (const target of targets) {
    const counted = await database.statementsOf(async (reset) => {
      await perform(database, target, { way, connections: 1, until: { times: COUNTED_TASKS } }, reset);
      return COUNTED_TASKS;
    });
    if (!counted) return null;
    counts[target.name] = counted.count;
    if (words.includes("--statements"))
      for (const { times, text } of counted.texts)
        print(`${way} ${target.name} ${times} ${text.slice(0, 160)}`);
  }
  const { bare = Number.NaN, ours: own = Number.NaN, peer } = counts;
  return { bare, ours: own, ...(peer === undefined ? {} : { peer }) };
}

/** Has the load generator perform a task, and reads the processor times when it begins and ends. */
async function perform(
  { pid }: Pick<BenchDatabase, "pid">,
  target: Target,
  { way, connections, until }: Pick<Task, "way" | "connections" | "until">,
  prepared?: () => Promise<void>,
): Promise<Round> {
  const times = () => ({
    own: cpuTime(target.pids()),
    postgres: pid === null ? Number.NaN : cpuTime(processTree(pid)),
  });
  const task = { way, isPeer: target.name === "peer", url: target.url, home: server.url, connections, until };
  load.send({ task: task satisfies Task });
  let before = times();
  for (;;) {
    const [report] = (await once(load, "message")) as [LoadReport];
    if ("failed" in report) throw new Error(`${way}: ${report.failed}`);
    if ("measuring" in report) {
      await prepared?.();
      before = times();
      load.send({ go: true });
    }
    if (!("result" in report)) continue;
    const { cpuMs, ...result } = report.result;
    const after = times();
    return {
      ...result,
      cpuMs: after.own - before.own,
      postgresCpuMs: after.postgres - before.postgres,
      generatorCpuMs: cpuMs,
    };
  }
}

import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { flowClient } from "../server/testing/flow-client.ts";
import type { RunningServer } from "../server/testing/server.ts";
import { type BenchDatabase, openDatabase, postmasterOf } from "./database.ts";
import { type Figures, figuresOf, type Round } from "./figures.ts";
import type { HashTask } from "./hash-bound.ts";
import type { Report as LoadReport, Task } from "./load.ts";
import { cpuTime, peakMemory, processTree, residentMemory } from "./process.ts";
import { asText, type Line, type Report, writeDocs } from "./report.ts";
import { addWebhooks, type Populated, populate, startMeasured } from "./service.ts";
import { startBare } from "./start-bare.ts";
import { type Measured, tasks } from "./tasks.ts";

/** `npm run bench`: measures whole tasks beside a hand-made server, in one run. `bench/README.md` says how to read it. */

const words = process.argv.slice(2);
/** Each task once, to see that the benchmark works. */
const isShort = words.includes("--short");
const only = words
  .find((word) => word.startsWith("--only="))
  ?.slice("--only=".length)
  .split(",");
const numbers = (name: string, fallback: string) => (process.env[name] ?? fallback).split(",").map(Number);
const [seconds = 0.6] = numbers("BENCH_SECONDS", "0.6");
const [warmUp = 0.6] = numbers("BENCH_WARM_UP", "0.6");
const connectionCounts = isShort ? [1] : numbers("BENCH_CONNECTIONS", "1,16,128");
const ROUNDS = isShort ? 1 : 5;
/** Tasks of the pass that counts statements: more than background work repeats in its time. */
const COUNTED_TASKS = 10;

/** A measured server. */
interface Target {
  url: string;
  pids(): number[];
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const print = (text: string) => process.stdout.write(`${text}\n`);

const load = fork(join(import.meta.dirname, "load.ts"));
const [first] = (await once(load, "message")) as [LoadReport];
if (!("ready" in first)) throw new Error("the load generator did not start");
const world = first.ready;

const folder = mkdtempSync(join(tmpdir(), "stile bench "));
const firstStart = performance.now();
const server = await startMeasured(world, folder);
const firstStartMs = performance.now() - firstStart;
const children: ChildProcess[] = [load];
let database: BenchDatabase | undefined;
try {
  const idle = await startAnew(server);
  database = await openDatabase(server);
  const populated = await populate(server);
  load.send({ setting: populated.setting });
  const lines = await measureAll(database, populated);
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
  return [
    `${cpus().length} × ${processor?.model.trim()}, Node ${process.versions.node}, ${version}, ${date}`,
    `${ROUNDS} rounds of ${seconds} s each, alternating, medians`,
  ].join("; ");
}

/** Stile as a target: its process and its workers, without the PostgreSQL that it runs. */
function ours(): Target {
  return { url: server.url, pids: () => processTree(server.pid, { except: postmasterOf(server) }) };
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

async function measureAll(
  database: BenchDatabase,
  { setting, passwordHash, adminKey }: Populated,
): Promise<Line[]> {
  const bareServer = await startBare(server.url, setting, world, database.url);
  const hashing = fork(join(import.meta.dirname, "hash-bound.ts"));
  children.push(bareServer.child, hashing);
  const bare: Target = { url: bareServer.url, pids: () => processTree(bareServer.child.pid ?? 0) };
  const chosen = tasks.filter(({ way }) => only === undefined || only.includes(way));
  const lines: Line[] = [];
  for (const task of chosen) {
    const remove = task.webhooks ? await addWebhooks(server.url, adminKey, world.receivers) : null;
    const statements = {
      bare: await countOf(database, bare, task),
      ours: await countOf(database, ours(), task),
    };
    for (const connections of connectionCounts) {
      const hashes = task.aims.some(({ of }) => of === "hash")
        ? { password: setting.password, hash: passwordHash, atOnce: Math.min(connections, 4), seconds }
        : null;
      const line = await measureTask(database, [bare, ours()], { task, connections }, () =>
        hashes ? hashesPerSecond(hashing, hashes) : null,
      );
      const counted =
        statements.bare !== null && statements.ours !== null && connections === connectionCounts[0];
      lines.push({
        ...line,
        ...(counted ? { statements: statements as { bare: number; ours: number } } : {}),
      });
      print(
        `${task.name}, ${connections} connections: ${line.bare.perSecond.toFixed(1)} by hand, ${line.ours.perSecond.toFixed(1)} Stile`,
      );
    }
    await remove?.();
  }
  return lines;
}

/** Measures the servers in turns, so that they meet the same load of the machine. */
async function measureTask(
  database: BenchDatabase,
  targets: readonly [bare: Target, ours: Target],
  { task, connections }: { task: Measured; connections: number },
  hashes: () => Promise<number> | null,
): Promise<Line> {
  const rounds = targets.map((): Round[] => []);
  const bounds: number[] = [];
  const until = isShort ? { times: 1 } : { seconds };
  for (const target of isShort ? [] : targets)
    await perform(database, target, { way: task.way, connections, until: { seconds: warmUp } });
  for (let round = 0; round < ROUNDS; round += 1) {
    const bound = hashes();
    if (bound) bounds.push(await bound);
    for (const [index, target] of targets.entries())
      rounds[index]?.push(await perform(database, target, { way: task.way, connections, until }));
  }
  const [bare, own] = rounds.map(figuresOf) as [Figures, Figures];
  const [bound] = bounds.toSorted((one, other) => one - other).slice(bounds.length / 2);
  return { task, connections, bare, ours: own, ...(bound === undefined ? {} : { hashesPerSecond: bound }) };
}

async function hashesPerSecond(hashing: ChildProcess, task: HashTask): Promise<number> {
  hashing.send(task);
  const [{ done, elapsedMs }] = (await once(hashing, "message")) as [{ done: number; elapsedMs: number }];
  return (done / elapsedMs) * 1000;
}

/** Statements of one task; null if they cannot be counted. */
async function countOf(database: BenchDatabase, target: Target, { way }: Measured): Promise<number | null> {
  const counted = await database.statementsOf(async (reset) => {
    await perform(database, target, { way, connections: 1, until: { times: COUNTED_TASKS } }, reset);
    return COUNTED_TASKS;
  });
  if (words.includes("--statements"))
    for (const { times, text } of counted?.texts ?? []) print(`${way} ${times} ${text.slice(0, 160)}`);
  return counted?.count ?? null;
}

/** Has the load generator perform a task, and reads the processor times when it begins and ends. */
async function perform(
  { pid }: BenchDatabase,
  target: Target,
  { way, connections, until }: Pick<Task, "way" | "connections" | "until">,
  prepared?: () => Promise<void>,
): Promise<Round> {
  const times = () => ({
    own: cpuTime(target.pids()),
    postgres: pid === null ? Number.NaN : cpuTime(processTree(pid)),
  });
  load.send({ task: { way, url: target.url, home: server.url, connections, until } satisfies Task });
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

import { setTimeout as wait } from "node:timers/promises";
import { openConnection } from "./connection.ts";
import { makePeerWays } from "./peer-ways.ts";
import type { Setting } from "./setting.ts";
import { Overloaded, visit } from "./visit.ts";
import { makeWays, type Way, type WayName } from "./ways.ts";
import { startWorld, type WorldAddresses } from "./world.ts";

/**
 * The load generator: a process of its own, with the servers around the measured one. It sends `ready`, takes its
 * `Setting`, and then performs the tasks of its parent one after the other.
 */
export interface Task {
  way: WayName;
  /** Whether the server is better-auth. */
  isPeer: boolean;
  /** The measured server. */
  url: string;
  /** Stile, where the way prepares what it needs. */
  home: string;
  connections: number;
  /** When connections begin no further task, or how often each performs it. */
  until: { seconds: number } | { times: number };
}

/** What a task came to. */
export interface Result {
  /** Performed tasks, and the milliseconds from the first request to the last answer. */
  done: number;
  elapsedMs: number;
  /** Milliseconds of each. */
  latencies: number[];
  /** How often connections were told to wait. */
  waits: number;
  /** Processor time of the generator in milliseconds. */
  cpuMs: number;
}

export type Report =
  | { ready: WorldAddresses }
  /** Everything is prepared; `go` starts the first request. */
  | { measuring: true }
  | { result: Result }
  | { failed: string };

const report = (message: Report) => process.send?.(message);

const world = await startWorld();
let ways: Record<WayName, Way>;
let peerWays: Partial<Record<WayName, Way>>;
let go: () => void = () => {};

async function perform({ way, isPeer, url, home, connections, until }: Task): Promise<Result> {
  const chosen = isPeer ? peerWays[way] : ways[way];
  if (!chosen) throw new Error(`better-auth has no way ${way}`);
  const opened = await Promise.all(
    Array.from({ length: connections }, (_, index) => {
      // A source of its own, as if it were another user's network.
      const headers = { "x-forwarded-for": `10.0.${index >> 8}.${index & 255}` };
      return Promise.all([openConnection(url, headers), openConnection(home, headers)]);
    }),
  );
  const visits = opened.map(([own, other]) => [visit(own), visit(other)] as const);
  const runs: (() => Promise<unknown>)[] = [];
  // Prepared in small groups, so that none has to wait long and loses its connection.
  while (runs.length < connections) {
    const from = runs.length;
    const group = visits.slice(from, from + 8);
    runs.push(...(await Promise.all(group.map(([own, other], index) => chosen(own, other, from + index)))));
  }

  const latencies: number[] = [];
  let waits = 0;
  /** Begins a task anew when the server told to wait. */
  const untilDone = async (run: () => Promise<unknown>) => {
    for (;;) {
      try {
        return await run();
      } catch (error) {
        if (!(error instanceof Overloaded)) throw error;
        waits += 1;
        await wait(error.seconds * 1000);
      }
    }
  };
  const going = new Promise<void>((resolve) => {
    go = resolve;
  });
  report({ measuring: true });
  await going;
  const cpu = process.cpuUsage();
  const begin = performance.now();
  const end = "seconds" in until ? begin + until.seconds * 1000 : Number.POSITIVE_INFINITY;
  let finished = begin;
  await Promise.all(
    runs.map(async (run) => {
      let now = performance.now();
      for (let turn = 0; "times" in until ? turn < until.times : now < end; turn += 1) {
        await untilDone(run);
        finished = performance.now();
        latencies.push(finished - now);
        now = finished;
      }
    }),
  );
  const { user, system } = process.cpuUsage(cpu);
  for (const connection of opened.flat()) connection.close();
  return {
    done: latencies.length,
    elapsedMs: finished - begin,
    latencies,
    waits,
    cpuMs: (user + system) / 1000,
  };
}

process.on("message", (message: { setting: Setting } | { task: Task } | { go: true }) => {
  if ("go" in message) return go();
  if ("setting" in message) {
    ways = makeWays(world, message.setting);
    peerWays = makePeerWays(message.setting);
    return;
  }
  perform(message.task).then(
    (result) => report({ result }),
    (error: unknown) =>
      report({ failed: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
  );
});
process.on("disconnect", () => process.exit(0));
report({ ready: world.addresses });

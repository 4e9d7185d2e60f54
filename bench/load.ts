import { setTimeout as wait } from "node:timers/promises";
import { openConnection } from "./connection.ts";
import type { Round } from "./figures.ts";
import { cpuTime, processTree } from "./process.ts";
import { Overloaded, visit } from "./visit.ts";
import type { Way } from "./ways.ts";

/** A measured server. */
export interface Target {
  url: string;
  /** Its process with its workers, without the PostgreSQL that it may run. */
  pids(): number[];
  /** Process id of its PostgreSQL; null if that is not measured. */
  postgres: number | null;
}

/** What the connections do. */
export interface Load {
  way: Way;
  connections: number;
  /** When connections begin no further task, or how often each performs it. */
  until: { seconds: number } | { times: number };
  /** Stile, where the way prepares what it needs; default: the measured server. */
  home?: string;
  /** Whether a connection that is told to wait does so, or begins the task anew at once. Default: true. */
  isPatient?: boolean;
  /** Called when everything is prepared, before the first request. */
  prepared?: () => Promise<void>;
}

/** Has connections perform a task of a server again and again, and reads the processor times before and after. */
export async function perform(
  { url, pids, postgres }: Target,
  { way, connections, until, home = url, isPatient = true, prepared }: Load,
): Promise<Round> {
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
    runs.push(...(await Promise.all(group.map(([own, other], index) => way(own, other, from + index)))));
  }
  await prepared?.();

  const latencies: number[] = [];
  const refusals: number[] = [];
  /** Begins a task anew when the server told to wait. */
  const untilDone = async (run: () => Promise<unknown>) => {
    for (;;) {
      const from = performance.now();
      try {
        return await run();
      } catch (error) {
        if (!(error instanceof Overloaded)) throw error;
        refusals.push(performance.now() - from);
        if (isPatient) await wait(error.seconds * 1000);
      }
    }
  };
  const processorTimes = () => ({
    own: cpuTime(pids()),
    postgres: postgres === null ? Number.NaN : cpuTime(processTree(postgres)),
  });
  const before = processorTimes();
  const generator = process.cpuUsage();
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
  const { user, system } = process.cpuUsage(generator);
  const after = processorTimes();
  for (const connection of opened.flat()) connection.close();
  return {
    done: latencies.length,
    elapsedMs: finished - begin,
    latencies,
    refusals,
    cpuMs: after.own - before.own,
    postgresCpuMs: after.postgres - before.postgres,
    generatorCpuMs: (user + system) / 1000,
  };
}

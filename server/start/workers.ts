import cluster, { type Worker } from "node:cluster";
import { randomUUID } from "node:crypto";
import type { Logger } from "pino";
import { StartError } from "../config/errors.ts";
import type { Notice } from "../runtime.ts";
import { WorkerStartError } from "./exit-code.ts";
import type { Share, ToOwner, ToWorker, Wakeable } from "./messages.ts";
import type { Collected } from "./telemetry/collected.ts";
import type { CollectedByProcess } from "./telemetry/open-metrics.ts";

/** The processes that serve, as their owner sees them. */
export interface Workers {
  /**
   * Resolves with the port when the first one accepts connections, whose requests wait.
   *
   * @throws StartError if the port cannot be opened
   */
  listening: Promise<number>;
  /**
   * Lets them answer requests, and from now on replaces one that ends.
   *
   * @throws StartError if one cannot start
   */
  begin(share: Share): Promise<void>;
  /** Asks each that serves for its metrics. One that ends, or does not answer in time, has none. */
  collect(): Promise<CollectedByProcess[]>;
  /** Lets them answer what has begun, and resolves when all have ended. They are killed after a time. */
  stop(milliseconds: number): Promise<void>;
}

interface WorkersOptions {
  count: number;
  log: Logger;
  onWake(of: Wakeable): void;
  onNotice(notice: Notice): void;
  /** Called with the instance of a worker that has ended, which may hold claims. */
  onEnd(instanceId: string): Promise<void>;
}

/** The pause before a worker is replaced that ended soon; it doubles with each such end in a row. */
const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 30_000;

/** A scraper waits for some seconds. */
const COLLECT_TIMEOUT_MS = 2_000;

/** A worker that lived for this time did not end soon. */
const LONG_LIFE_MS = 60_000;

/** Starts the processes that serve. */
export function startWorkers({ count, log, onWake, onNotice, onEnd }: WorkersOptions): Workers {
  // The owner accepts connections and hands them out in turn: workers that accept themselves get unequal numbers.
  cluster.schedulingPolicy = cluster.SCHED_RR;
  const listening = Promise.withResolvers<number>();
  const allServe = Promise.withResolvers<void>();
  const allEnded = Promise.withResolvers<void>();
  for (const { promise } of [listening, allServe]) promise.catch(() => {});
  const running = new Set<Worker>();
  const begins = new WeakMap<Worker, () => void>();
  const instances = new WeakMap<Worker, string>();
  /** A worker has the place of the one that it replaces: metrics are told apart by it. */
  const places = new WeakMap<Worker, number>();
  const questions = new Map<string, { worker: Worker; settle: (metrics: Collected[]) => void }>();
  /** Those that serve. One that starts is busy for longer than a scraper may wait. */
  const serves = new Set<Worker>();
  let serving = 0;
  let share: Share | undefined;
  let stopping = false;
  /** Ends soon after a start, in a row. */
  let shortLives = 0;

  function start(place: number): void {
    const worker = cluster.fork();
    const instanceId = randomUUID();
    const startedAt = performance.now();
    running.add(worker);
    const begin = () => share && send(worker, { kind: "begin", instanceId, share });
    begins.set(worker, begin);
    instances.set(worker, instanceId);
    places.set(worker, place);
    begin();
    worker.on("message", (message: ToOwner) => heed(worker, message));
    worker.on("error", (error) => log.warn({ err: error, worker: worker.process.pid }, "a worker failed"));
    worker.once("exit", (code, signal) => {
      running.delete(worker);
      serves.delete(worker);
      for (const asked of questions.values()) if (asked.worker === worker) asked.settle([]);
      if (stopping) {
        if (running.size === 0) allEnded.resolve();
        return;
      }
      if (!share || serving < count) {
        const failure = new StartError(
          `a process of server.workers ended (${signal ?? code}) before it served`,
        );
        listening.reject(failure);
        allServe.reject(failure);
        return;
      }
      const livedLong = performance.now() - startedAt > LONG_LIFE_MS;
      shortLives = livedLong ? 0 : shortLives + 1;
      const pause = livedLong ? 0 : Math.min(FIRST_PAUSE_MS * 2 ** (shortLives - 1), MAX_PAUSE_MS);
      log.error(
        { worker: worker.process.pid, code, signal, pause_ms: pause },
        "a worker ended; another one is started",
      );
      onEnd(instanceId).catch((error: unknown) =>
        log.warn({ err: error }, "the claims of a worker that ended could not be released; they expire"),
      );
      setTimeout(() => stopping || start(place), pause);
    });
  }

  function heed(sender: Worker, message: ToOwner): void {
    switch (message.kind) {
      case "listening":
        listening.resolve(message.port);
        break;
      case "failed":
        if (serving >= count)
          log.error({ worker: sender.process.pid, reason: message.line }, "a worker failed to start");
        for (const { reject } of [listening, allServe])
          reject(new WorkerStartError(message.line, message.exitCode));
        break;
      case "serving":
        serving += 1;
        serves.add(sender);
        log.info({ worker: sender.process.pid, instance: instances.get(sender) }, "a worker serves");
        if (serving >= count) allServe.resolve();
        break;
      case "wake":
        onWake(message.of);
        break;
      case "collected":
        questions.get(message.question)?.settle(message.metrics);
        break;
      default:
        onNotice(message);
        for (const other of running) if (other !== sender) send(other, message);
    }
  }

  function metricsOf(worker: Worker): Promise<Collected[]> {
    const question = randomUUID();
    return new Promise((resolve) => {
      const settle = (metrics: Collected[]) => {
        clearTimeout(timeout);
        questions.delete(question);
        resolve(metrics);
      };
      const timeout = setTimeout(() => settle([]), COLLECT_TIMEOUT_MS);
      questions.set(question, { worker, settle });
      send(worker, { kind: "collect", question });
    });
  }

  for (let place = 1; place <= count; place += 1) start(place);

  return {
    listening: listening.promise,
    async begin(given) {
      share = given;
      for (const worker of running) begins.get(worker)?.();
      await allServe.promise;
    },
    collect: () =>
      Promise.all(
        [...serves].map(async (worker) => ({
          process: String(places.get(worker)),
          metrics: await metricsOf(worker),
        })),
      ),
    async stop(milliseconds) {
      stopping = true;
      for (const { reject } of [listening, allServe]) reject(new StartError("the server stops"));
      if (running.size === 0) return;
      const killing = setTimeout(() => {
        for (const worker of running) worker.process.kill("SIGKILL");
      }, milliseconds);
      for (const worker of running) send(worker, { kind: "stop" });
      await allEnded.promise;
      clearTimeout(killing);
    },
  };
}

function send(worker: Worker, message: ToWorker): void {
  // One that has just ended is replaced.
  if (worker.isConnected()) worker.send(message, () => {});
}

import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import type { Logger } from "pino";
import { StartError } from "../config/errors.ts";
import { OUTGROWN_EXIT_CODE, OutgrownError } from "../database/releases.ts";
import type { Standing } from "../database/standing.ts";

/** Signals within this time count as one. A later one ends the process immediately. */
const SIGNAL_DEBOUNCE_MS = 500;

/** Time limit for closing the database, and for ending an interrupted start. */
export const CLEANUP_TIMEOUT_MS = 10_000;

/** How long a process that the database has outgrown answers 503, so that balancers notice, before it stops. */
const OUTGROWN_DRAIN_MS = 5_000;

/** A worker could not start; its owner ends with the same line and exit code. */
export class WorkerStartError extends StartError {
  readonly exitCode: number;

  constructor(line: string, exitCode: number) {
    super(line);
    this.exitCode = exitCode;
  }
}

/** Returns the exit code of a process whose start failed. */
export function exitCodeOfFailure(error: unknown): number {
  return error instanceof OutgrownError || error instanceof WorkerStartError ? error.exitCode : 1;
}

/** Resolves with the exit code when a process that the database has outgrown is to stop. */
export async function outgrownExitCode({ outgrown }: Pick<Standing, "outgrown">): Promise<number> {
  if (!outgrown.aborted) await once(outgrown, "abort");
  await pause(OUTGROWN_DRAIN_MS);
  return OUTGROWN_EXIT_CODE;
}

/** Resolves with the exit code when this process is to stop: 0 after a signal, 1 after an uncaught exception. */
export function exitCodeOf(log: Logger, signals: readonly NodeJS.Signals[]): Promise<number> {
  const exitCode = Promise.withResolvers<number>();
  let interruptedAt = Number.POSITIVE_INFINITY;
  for (const signal of signals) {
    process.on(signal, () => {
      // An interrupt from the keyboard arrives twice: directly and forwarded by npm.
      if (performance.now() - interruptedAt > SIGNAL_DEBOUNCE_MS) process.exit(1);
      if (interruptedAt < Number.POSITIVE_INFINITY) return;
      interruptedAt = performance.now();
      log.info({ signal }, "stopping");
      exitCode.resolve(0);
    });
  }
  process.on("unhandledRejection", (error) => log.error({ err: error }, "unhandled promise rejection"));
  process.once("uncaughtException", (error) => {
    // Logging may throw again for the same reason; further errors are ignored.
    process.on("uncaughtException", () => {});
    log.error({ err: error }, "uncaught exception; stopping");
    exitCode.resolve(1);
  });
  return exitCode.promise;
}

import { StartError } from "../config/errors.ts";
import { loadConfig } from "../config/load.ts";
import type { Config } from "../config/schema.ts";
import { logConsole } from "../observability/console.ts";
import { createLogger, gatheredOutput } from "../observability/logger.ts";
import { type BootedRuntime, createRuntime } from "./boot.ts";
import { CLEANUP_TIMEOUT_MS, exitCodeOf, exitCodeOfFailure } from "./exit-code.ts";
import type { ToOwner, ToWorker } from "./messages.ts";
import { ownerLink } from "./owner-link.ts";
import { openPort, type Pages } from "./serving.ts";

/**
 * Serves in a process that the owner of the server has started: answers requests, and leaves the database, jobs and
 * deliveries to the owner. It stops when the owner says so, after SIGTERM, and at once if the owner ends.
 */
export async function serveAsWorker(
  loaded: Config,
  environment: NodeJS.ProcessEnv,
  pages: Pages,
): Promise<never> {
  const log = createLogger(loaded.log.level, gatheredOutput(), { worker: process.pid });
  logConsole(log);
  // An interrupt from the keyboard reaches all processes; the owner decides what it means.
  process.on("SIGINT", () => {});
  const ended = exitCodeOf(log, ["SIGTERM"]);
  const begun = Promise.withResolvers<ToWorker & { kind: "begin" }>();
  const told = Promise.withResolvers<number>();
  let runtime: BootedRuntime | undefined;
  process.on("message", (message: ToWorker) => {
    if (message.kind === "begin") begun.resolve(message);
    else if (message.kind === "stop") told.resolve(0);
    else if (message.kind === "collect") void answerWithMetrics(message.question, runtime);
    else runtime?.heed(message);
  });
  const exitCode = Promise.race([ended, told.promise]);

  try {
    const serving = await openPort(loaded, log, pages);
    tell({ kind: "listening", port: serving.port });
    const closing = new AbortController();
    const starting = begun.promise.then(({ instanceId, share }) =>
      createRuntime(configOf(loaded, environment, share), {
        log,
        worker: false,
        closing: closing.signal,
        owner: ownerLink({ instanceId, workers: share.workers, tell }),
      }),
    );
    const started = await Promise.race([starting, exitCode]);
    if (typeof started === "number") process.exit(started);
    runtime = started;
    serving.begin(runtime);
    tell({ kind: "serving" });

    const code = await exitCode;
    closing.abort();
    const milliseconds = loaded.server.shutdown_timeout * 1_000;
    setTimeout(() => process.exit(1), milliseconds + CLEANUP_TIMEOUT_MS).unref();
    await serving.close(milliseconds);
    await runtime.stop();
    process.exit(code);
  } catch (error) {
    const line = error instanceof StartError ? error.message : ((error as Error).stack ?? String(error));
    const exitCode = exitCodeOfFailure(error);
    process.send?.({ kind: "failed", line, exitCode } satisfies ToOwner, () => process.exit(exitCode));
    return new Promise<never>(() => {});
  }
}

/** One that is starting has none, and one that fails to collect them is left out. */
async function answerWithMetrics(question: string, runtime: BootedRuntime | undefined): Promise<void> {
  const metrics = await runtime?.collectMetrics().catch(() => []);
  tell({ kind: "collected", question, metrics: metrics ?? [] });
}

function tell(message: ToOwner): void {
  // Without an owner this process is about to end.
  if (process.connected) process.send?.(message, undefined, undefined, () => {});
}

/** The configuration of a worker: its share of what the server has. */
function configOf(
  loaded: Config,
  environment: NodeJS.ProcessEnv,
  { databaseUrl, port, poolSize, workers }: (ToWorker & { kind: "begin" })["share"],
): Config {
  // The public address contains the chosen port.
  const config =
    loaded.port === 0 ? loadConfig({ ...environment, PORT: String(port) }, process.cwd()) : loaded;
  const { hash } = config.password;
  return {
    ...config,
    database_url: databaseUrl,
    database: { ...config.database, pool_size: poolSize },
    password: { ...config.password, hash: { ...hash, queue: Math.ceil(hash.queue / workers) } },
  };
}

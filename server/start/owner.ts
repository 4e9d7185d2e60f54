import { loadConfig } from "../config/load.ts";
import type { Config } from "../config/schema.ts";
import { releaseInstance } from "../database/instances.ts";
import { logConsole } from "../observability/console.ts";
import { createLogger, gatheredOutput } from "../observability/logger.ts";
import { type BootedRuntime, createRuntime } from "./boot.ts";
import { consoleLink } from "./console-pages.ts";
import { CLEANUP_TIMEOUT_MS, exitCodeOf, outgrownExitCode } from "./exit-code.ts";
import { type MetricsPort, openMetricsPort } from "./metrics-port.ts";
import { countWorkers, shareConnections } from "./process-count.ts";
import { printStartNotice } from "./start-notice.ts";
import { startWorkers } from "./workers.ts";

/** The owner among the processes whose metrics are told apart; the others have numbers from 1. */
const OWNER = "owner";

/**
 * Owns a server of several processes: runs the embedded database, its migrations, jobs, deliveries and purges, and
 * starts the processes that serve. It answers no request itself.
 */
export async function ownServer(loaded: Config, environment: NodeJS.ProcessEnv): Promise<never> {
  const log = createLogger(loaded.log.level, gatheredOutput());
  logConsole(log);
  const count = countWorkers(loaded);
  const shares = shareConnections(loaded.database.pool_size, count);
  let runtime: BootedRuntime | undefined;
  let metricsPort: MetricsPort | null = null;
  const exitCode = exitCodeOf(log, ["SIGTERM", "SIGINT"]);
  const workers = startWorkers({
    count,
    log,
    onWake: (of) => (of === "deliveries" ? runtime?.webhooks.wake() : runtime?.jobs.wake([{ name: of }])),
    onNotice: (notice) => runtime?.heed(notice),
    onEnd: async (instanceId) => runtime && releaseInstance(runtime.database, instanceId),
  });
  const shutdownMs = loaded.server.shutdown_timeout * 1_000;

  const begin = async (): Promise<BootedRuntime> => {
    // Nothing is created before the port is known to be free.
    const port = await workers.listening;
    // The public address contains the chosen port.
    const config =
      loaded.port === 0 ? loadConfig({ ...environment, PORT: String(port) }, process.cwd()) : loaded;
    runtime = await createRuntime(config, {
      log,
      worker: true,
      poolSize: shares.owner,
      processes: count + 1,
    });
    const { databaseUrl, collectMetrics } = runtime;
    const collect = async () => [
      { process: OWNER, metrics: await collectMetrics() },
      ...(await workers.collect()),
    ];
    metricsPort = await openMetricsPort(config, collect, log);
    await workers.begin({ databaseUrl, port, poolSize: shares.worker, workers: count });
    return runtime;
  };

  const starting = begin();
  const end = async () => {
    // Requests get the configured time, then jobs get the same. After that the process ends regardless.
    setTimeout(() => process.exit(1), 2 * shutdownMs + 2 * CLEANUP_TIMEOUT_MS).unref();
    await workers.stop(shutdownMs + CLEANUP_TIMEOUT_MS);
    await metricsPort?.close();
  };
  let started: BootedRuntime | number;
  try {
    started = await Promise.race([starting, exitCode]);
  } catch (error) {
    await end();
    await runtime?.stop();
    throw error;
  }
  if (typeof started === "number") {
    await end();
    // A failed start has already released its resources; one whose workers have ended fails.
    await starting.catch(() => {});
    await runtime?.stop();
    process.exit(started);
  }
  printStartNotice(started, await consoleLink(started));

  const code = await Promise.race([exitCode, outgrownExitCode(started.standing)]);
  await end();
  await started.stop();
  log.info("stopped");
  process.exit(code);
}

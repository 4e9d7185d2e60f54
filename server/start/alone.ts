import { loadConfig } from "../config/load.ts";
import type { Config } from "../config/schema.ts";
import { logConsole } from "../observability/console.ts";
import { createLogger, gatheredOutput } from "../observability/logger.ts";
import { type BootedRuntime, createRuntime } from "./boot.ts";
import { consoleLink } from "./console-pages.ts";
import { CLEANUP_TIMEOUT_MS, exitCodeOf, outgrownExitCode } from "./exit-code.ts";
import { openMetricsPort } from "./metrics-port.ts";
import { openPort, type Pages } from "./serving.ts";
import { printStartNotice } from "./start-notice.ts";

/** Runs the database, its migrations, the job worker and the HTTP server in this process, until a signal ends it. */
export async function serveAlone(
  loaded: Config,
  environment: NodeJS.ProcessEnv,
  pages: Pages,
): Promise<never> {
  const log = createLogger(loaded.log.level, gatheredOutput());
  logConsole(log);
  const serving = await openPort(loaded, log, pages);
  // The public address contains the chosen port.
  const config =
    loaded.port === 0 ? loadConfig({ ...environment, PORT: String(serving.port) }, process.cwd()) : loaded;

  const exitCode = exitCodeOf(log, ["SIGTERM", "SIGINT"]);
  const closing = new AbortController();
  const starting = createRuntime(config, { log, worker: true, closing: closing.signal });
  const runtime = await Promise.race([starting, exitCode]);
  if (typeof runtime === "number") {
    await abandon(starting, serving.close);
    process.exit(runtime);
  }
  const collect = async () => [{ process: "1", metrics: await runtime.collectMetrics() }];
  const metricsPort = await openMetricsPort(config, collect, log);
  const link = await consoleLink(runtime);
  serving.begin(runtime);
  printStartNotice(runtime, link);

  const code = await Promise.race([exitCode, outgrownExitCode(runtime.standing)]);
  closing.abort();
  await metricsPort?.close();
  await stop(runtime, config, serving.close);
  process.exit(code);
}

/** Ends an interrupted start. No request has been answered yet, so there is none to wait for. */
async function abandon(
  starting: Promise<BootedRuntime>,
  close: (milliseconds: number) => Promise<void>,
): Promise<void> {
  setTimeout(() => process.exit(1), CLEANUP_TIMEOUT_MS).unref();
  await close(0);
  // A failed start has already released its resources.
  const runtime = await starting.catch(() => undefined);
  await runtime?.stop();
}

async function stop(
  runtime: BootedRuntime,
  config: Config,
  close: (milliseconds: number) => Promise<void>,
): Promise<void> {
  const milliseconds = config.server.shutdown_timeout * 1_000;
  // Requests get the configured time, then jobs get the same. After that the process ends regardless.
  setTimeout(() => process.exit(1), 2 * milliseconds + CLEANUP_TIMEOUT_MS).unref();
  await close(milliseconds);
  await runtime.stop();
  runtime.log.info("stopped");
}

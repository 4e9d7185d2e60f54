import { answerPage } from "../hosted/answer.ts";
import { builtPages } from "../hosted/assets.ts";
import { ConfigError, StartError } from "./config/errors.ts";
import { loadConfig } from "./config/load.ts";
import type { Config } from "./config/schema.ts";
import { loggablePath } from "./http/addresses.ts";
import { dispatch } from "./http/dispatch.ts";
import { securityHeaders } from "./http/security-headers.ts";
import { logConsole } from "./observability/console.ts";
import { createLogger } from "./observability/logger.ts";
import { holdRuntime } from "./runtime-slot.ts";
import { type BootedRuntime, createRuntime } from "./start/boot.ts";
import { createListener, type Destinations } from "./start/listener.ts";
import { printStartNotice } from "./start/start-notice.ts";

/** `npm start`: the database, its migrations, the job worker and the HTTP server in one process. */

/** Signals within this time count as one. A later one ends the process immediately. */
const SIGNAL_DEBOUNCE_MS = 500;

/** Time limit for closing the database, and for ending an interrupted start. */
const CLEANUP_TIMEOUT_MS = 10_000;

try {
  await start();
} catch (error) {
  const known = error instanceof ConfigError || error instanceof StartError;
  process.stderr.write(`stile: ${known ? error.message : ((error as Error).stack ?? String(error))}\n`);
  process.exit(1);
}

async function start(): Promise<void> {
  const environment = { ...process.env };
  let config = loadConfig(environment, process.cwd());
  const log = createLogger(config.log.level);
  logConsole(log);
  const ready = Promise.withResolvers<Destinations>();
  const listener = createListener({
    log,
    trustedProxies: config.server.trusted_proxies,
    errorHeaders: securityHeaders(config),
    sendTimeoutMs: config.server.send_timeout * 1_000,
    destinations: ready.promise,
  });

  const port = await listen(listener.listen, config.port);
  // The public address contains the chosen port.
  if (config.port === 0) config = loadConfig({ ...environment, PORT: String(port) }, process.cwd());

  const exitCode = Promise.withResolvers<number>();
  let interruptedAt = Number.POSITIVE_INFINITY;
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
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

  const closing = new AbortController();
  const starting = createRuntime(config, { log, worker: true, closing: closing.signal });
  const runtime = await Promise.race([starting, exitCode.promise]);
  if (typeof runtime === "number") {
    await abandon(starting, listener.close);
    process.exit(runtime);
  }
  holdRuntime(runtime);
  ready.resolve({ api: dispatch, loggable: loggablePath, pages: answerPage });
  printStartNotice(runtime);
  // The first page does not wait for it.
  builtPages().catch((error: unknown) => log.error({ err: error }, "loading the pages failed"));

  const code = await exitCode.promise;
  closing.abort();
  await stop(runtime, config, listener.close);
  process.exit(code);
}

/** @throws StartError if the port cannot be opened */
async function listen(open: (port: number) => Promise<number>, port: number): Promise<number> {
  try {
    return await open(port);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "EADDRINUSE")
      throw new StartError(`port ${port} is already in use: stop the other process or set PORT`);
    if (code === "EACCES")
      throw new StartError(`this account has no permission to open port ${port}: set PORT`);
    throw new StartError(`port ${port} cannot be opened: ${message}`);
  }
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

import type { Logger } from "pino";
import { StartError } from "../config/errors.ts";
import type { Config } from "../config/schema.ts";
import { loggablePath } from "../http/addresses.ts";
import { securityHeaders } from "../http/answer/security-headers.ts";
import { dispatch } from "../http/dispatch.ts";
import type { Runtime } from "../runtime.ts";
import { holdRuntime } from "../runtime-slot.ts";
import { consolePages } from "./console-pages.ts";
import { lowerPoolPriority } from "./hash-threads.ts";
import { createListener, type Destinations } from "./listener.ts";

/** The hosted pages, which are a room above this one. */
export interface Pages {
  /** Answers a request outside the API. */
  answerPage: Destinations["pages"];
  /** Loads what the pages consist of. */
  builtPages(): Promise<unknown>;
}

/** The part of a process that answers requests. */
export interface Serving {
  /** The port in use. */
  port: number;
  /** Answers requests, also those that have waited. */
  begin(runtime: Runtime): void;
  /** As `Listener.close`. */
  close(milliseconds: number): Promise<void>;
}

/**
 * Opens the port. Requests wait until `begin`.
 *
 * @throws StartError if the port cannot be opened
 */
export async function openPort(config: Config, log: Logger, pages: Pages): Promise<Serving> {
  const ready = Promise.withResolvers<Destinations>();
  const listener = createListener({
    log,
    trustedProxies: config.server.trusted_proxies,
    errorHeaders: securityHeaders(config),
    sendTimeoutMs: config.server.send_timeout * 1_000,
    destinations: ready.promise,
  });
  const port = await listen(listener.listen, config.port);
  return {
    port,
    begin(runtime) {
      holdRuntime(runtime);
      ready.resolve({
        api: dispatch,
        console: consolePages(runtime),
        loggable: loggablePath,
        pages: pages.answerPage,
      });
      // The first page does not wait for it.
      pages
        .builtPages()
        .catch((error: unknown) => log.error({ err: error }, "loading the pages failed"))
        .finally(() => lowerPoolPriority(log));
    },
    close: listener.close,
  };
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

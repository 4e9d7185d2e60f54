import { ConfigError, StartError } from "../config/errors.ts";
import { loadConfig } from "../config/load.ts";
import { OutgrownError } from "../database/releases.ts";
import { recordMessages } from "../http/request/node-messages.ts";
import { createLogger } from "../observability/logger.ts";
import { heldRuntime, holdRuntime } from "../runtime-slot.ts";
import { createRuntime } from "./boot.ts";
import { consoleLink } from "./console-pages.ts";
import { openMetricsPort } from "./metrics-port.ts";
import { printStartNotice } from "./start-notice.ts";

/**
 * Creates the runtime in a process that Next started, unless there is one. It runs no jobs in the background: the
 * hosting platform requests them. A failure ends the process, because Next would continue and answer every request
 * with 500. Next itself shuts the process down after its running requests.
 */
export async function bootInsideNext(): Promise<void> {
  if (heldRuntime()) return;
  try {
    const config = loadConfig(process.env, process.cwd());
    const runtime = await createRuntime(config, { log: createLogger(config.log.level), worker: false });
    holdRuntime(runtime);
    const collect = async () => [{ process: "1", metrics: await runtime.collectMetrics() }];
    await openMetricsPort(config, collect, runtime.log);
    recordMessages();
    if (config.mode === "development") printStartNotice(runtime, await consoleLink(runtime));
  } catch (error) {
    const known = error instanceof ConfigError || error instanceof StartError;
    process.stderr.write(`stile: ${known ? error.message : ((error as Error).stack ?? String(error))}\n`);
    process.exit(error instanceof OutgrownError ? error.exitCode : 1);
  }
}

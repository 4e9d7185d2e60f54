import { ConfigError, StartError } from "../config/errors.ts";
import { loadConfig } from "../config/load.ts";
import { createLogger } from "../observability/logger.ts";
import { heldRuntime, holdRuntime } from "../runtime-slot.ts";
import { createRuntime } from "./boot.ts";

/**
 * Makes the runtime where Next is the process, unless there is one. Does no jobs: the platform asks for them.
 * A failure ends the process, since Next would go on and answer 500 to everything. Its end is Next's own affair:
 * that waits for running requests, and what the process held ends with it.
 */
export async function bootInsideNext(): Promise<void> {
  if (heldRuntime()) return;
  try {
    const config = loadConfig(process.env, process.cwd());
    const runtime = await createRuntime(config, { log: createLogger(config.log.level), worker: false });
    holdRuntime(runtime);
  } catch (error) {
    const known = error instanceof ConfigError || error instanceof StartError;
    process.stderr.write(`stile: ${known ? error.message : ((error as Error).stack ?? String(error))}\n`);
    process.exit(1);
  }
}

import { StartError } from "../config/errors.ts";
import { startEmbedded } from "../database/embedded.ts";
import { createLogger } from "../observability/logger.ts";

/**
 * A process that holds an embedded database, for the tests of starts, stops and kills.
 * Prints one JSON line once it runs. On failure it writes the reason to standard error and exits with 1. SIGTERM stops
 * it.
 *
 * Parameter: the data folder.
 */
try {
  const embedded = await startEmbedded(process.argv[2] ?? "", 20, createLogger("silent"));
  process.once("SIGTERM", async () => {
    await embedded.stop();
    process.exit(0);
  });
  process.stdout.write(`${JSON.stringify(embedded)}\n`);
} catch (error) {
  process.stderr.write(error instanceof StartError ? `${error.message}\n` : String(error));
  process.exit(1);
}

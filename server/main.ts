import cluster from "node:cluster";
import { ConfigError, StartError } from "./config/errors.ts";
import { loadConfig } from "./config/load.ts";
import { exitCodeOfFailure } from "./start/exit-code.ts";
import { sizePool } from "./start/hash-threads.ts";
import { countWorkers } from "./start/process-count.ts";

/**
 * `npm start`: the database, its migrations, the jobs and the HTTP server. In one process, or with `server.workers`
 * in one that owns the database and the jobs, and others that serve (decision 53).
 */

try {
  const environment = { ...process.env };
  const config = loadConfig(environment, process.cwd());
  const workers = countWorkers(config);
  sizePool(workers);
  // A process loads what it uses: the owner of others has no pages.
  if (!cluster.isWorker && workers > 1) {
    const { ownServer } = await import("./start/owner.ts");
    await ownServer(config, environment);
  } else {
    const [{ answerPage }, { builtPages }] = await Promise.all([
      import("../hosted/answer.ts"),
      import("../hosted/assets.ts"),
    ]);
    const pages = { answerPage, builtPages };
    if (cluster.isWorker) {
      const { serveAsWorker } = await import("./start/worker.ts");
      await serveAsWorker(config, environment, pages);
    } else {
      const { serveAlone } = await import("./start/alone.ts");
      await serveAlone(config, environment, pages);
    }
  }
} catch (error) {
  const known = error instanceof ConfigError || error instanceof StartError;
  process.stderr.write(`stile: ${known ? error.message : ((error as Error).stack ?? String(error))}\n`);
  process.exit(exitCodeOfFailure(error));
}

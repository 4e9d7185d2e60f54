import { type ChildProcess, spawn } from "node:child_process";
import { rmSync, watch } from "node:fs";
import { dirname, join } from "node:path";
import { loadConfig } from "../server/config/load.ts";
import { startEmbedded } from "../server/database/embedded.ts";
import { createLogger } from "../server/observability/logger.ts";
import { buildPages } from "./build-pages.ts";
import { targets } from "./build-stamp.mjs";

/**
 * `npm run dev`: runs the server from its sources and restarts it when one changes. When a source of the pages changes,
 * they are built again. The embedded database runs in this process, so that it outlives restarts.
 */

const root = dirname(import.meta.dirname);

/** Sources of what draws the pages, and sources of the server. */
const PAGE_SOURCES = ["components", "hosted"];
const SERVER_SOURCES = ["server", "db", "words"];

/** Editors write a file in several steps. */
const SETTLE_MS = 100;

const node = ["--disable-warning=ExperimentalWarning"];

const config = loadConfig(process.env, root);
const embedded = config.database_url
  ? undefined
  : await startEmbedded(config.data_dir, 3 * config.database.pool_size + 20, createLogger("warn"));
const environment: NodeJS.ProcessEnv = {
  ...process.env,
  ...(embedded ? { DATABASE_URL: embedded.url } : {}),
};

let server: ChildProcess | undefined;
let isStopping = false;

// What is built here is not a complete build.
rmSync(targets.server.stamp, { force: true });
await buildPages();
startServer();
watchSources();

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.on(signal, async () => {
    if (isStopping) return;
    isStopping = true;
    await stopServer();
    await embedded?.stop();
    process.exit(0);
  });
}

process.once("exit", () => server?.kill("SIGKILL"));

function startServer(): void {
  server = spawn(process.execPath, [...node, "server/main.ts"], {
    cwd: root,
    stdio: "inherit",
    env: environment,
    // An interrupt from the keyboard reaches this process alone, which then stops the server.
    detached: true,
  });
}

/** Kills the server without waiting for open requests, which need not finish in development. */
function stopServer(): Promise<void> {
  const running = server;
  server = undefined;
  if (!running || running.exitCode !== null || running.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => {
    running.once("exit", () => resolve());
    running.kill("SIGKILL");
  });
}

async function restartServer(): Promise<void> {
  if (isStopping) return;
  await stopServer();
  startServer();
}

/**
 * Watches the sources. A change of the pages builds them; any change restarts the server. Changes during a build are
 * handled after it.
 */
function watchSources(): void {
  const changed = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  let isBusy = false;

  const update = async () => {
    if (isBusy || isStopping) return;
    isBusy = true;
    while (changed.size > 0 && !isStopping) {
      const pages = PAGE_SOURCES.some((folder) => changed.has(folder));
      changed.clear();
      const failed =
        pages &&
        (await buildPages().then(
          () => false,
          () => true,
        ));
      if (failed) {
        process.stdout.write("The build failed; the server was not restarted.\n");
        continue;
      }
      await restartServer();
    }
    isBusy = false;
  };

  for (const folder of new Set([...PAGE_SOURCES, ...SERVER_SOURCES])) {
    watch(join(root, folder), { recursive: true }, (_, file) => {
      if (!file || !/\.(tsx?|css)$/.test(file) || /\.test\.tsx?$/.test(file)) return;
      changed.add(folder);
      clearTimeout(timer);
      timer = setTimeout(() => void update(), SETTLE_MS);
    });
  }
}

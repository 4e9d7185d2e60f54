import { type ChildProcess, spawn } from "node:child_process";
import { watch } from "node:fs";
import { dirname, join } from "node:path";
import { loadConfig } from "../server/config/load.ts";
import { startEmbedded } from "../server/database/embedded.ts";
import { createLogger } from "../server/observability/logger.ts";

/**
 * `npm run dev`: runs the server from its sources and restarts it when one changes. When a source of the pages changes,
 * they are built again. The embedded database runs in this process, so that it outlives restarts.
 */

const root = dirname(import.meta.dirname);

/** Sources of the pages, and those that only the server runs. Both run `words`. */
const PAGE_SOURCES = ["app", "components", "words"];
const SERVER_SOURCES = ["server", "db", "words"];

/** Editors write a file in several steps. */
const SETTLE_MS = 100;

const node = ["--disable-warning=ExperimentalWarning"];
const next = join(root, "node_modules", "next", "dist", "bin", "next");

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

await buildPages();
startServer();

onChange(SERVER_SOURCES, restartServer);
onChange(PAGE_SOURCES, async () => {
  await buildPages();
  await restartServer();
});

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

/** Ends the server at once: no request of a developer is worth waiting for. */
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

/** Builds the pages that the sources describe; a build that fails leaves its errors on the terminal. */
function buildPages(): Promise<void> {
  const build = spawn(process.execPath, [next, "build"], {
    cwd: root,
    stdio: ["ignore", "ignore", "inherit"],
    env: { ...process.env, NODE_ENV: "production", NEXT_TELEMETRY_DISABLED: "1" },
  });
  process.stdout.write("Building the pages…\n");
  return new Promise((resolve) => build.once("exit", () => resolve()));
}

/** Calls `act` after changes below any of the folders, one call at a time. Tests and other files do not count. */
function onChange(folders: readonly string[], act: () => Promise<void>): void {
  let timer: NodeJS.Timeout | undefined;
  let last = Promise.resolve();
  for (const folder of folders) {
    watch(join(root, folder), { recursive: true }, (_, file) => {
      if (!file || !/\.(tsx?|css)$/.test(file) || /\.test\.tsx?$/.test(file)) return;
      clearTimeout(timer);
      timer = setTimeout(() => {
        last = last.then(act);
      }, SETTLE_MS);
    });
  }
}

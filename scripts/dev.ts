import { type ChildProcess, spawn } from "node:child_process";
import { rmSync, watch } from "node:fs";
import { dirname, join } from "node:path";
import { loadConfig } from "../server/config/load.ts";
import { startEmbedded } from "../server/database/embedded.ts";
import { createLogger } from "../server/observability/logger.ts";
import { stampFile } from "./build-stamp.mjs";

/**
 * `npm run dev`: runs the server from its sources and restarts it when one changes. When a source of the pages changes,
 * they are built again. The embedded database runs in this process, so that it outlives restarts.
 */

const root = dirname(import.meta.dirname);

/** Sources of the pages, and sources of the server. Both use `words`. */
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

// The pages built here are not those of `npm run build`.
rmSync(stampFile, { force: true });
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
 * Builds the pages.
 *
 * @returns whether the build succeeded; its errors are on the terminal
 */
function buildPages(): Promise<boolean> {
  process.stdout.write("Building the pages…\n");
  const build = spawn(process.execPath, [next, "build"], {
    cwd: root,
    stdio: ["ignore", "ignore", "inherit"],
    env: { ...process.env, NODE_ENV: "production", NEXT_TELEMETRY_DISABLED: "1" },
  });
  return new Promise((resolve) => build.once("exit", (code) => resolve(code === 0)));
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
      if (pages && !(await buildPages())) {
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

import { type ChildProcess, spawn } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readFileSync,
  realpathSync,
  rmSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startParameters } from "../../scripts/start-parameters.ts";
import { freePort } from "./free-port.ts";

/** The real server, as `npm start` runs it, in a process of its own. */
export interface RunningServer {
  /** Base address, for instance `http://localhost:40123`; the same after a restart. */
  readonly url: string;
  readonly dataDir: string;
  /** Its environment, which the CLI needs to work on the same data. */
  readonly environment: NodeJS.ProcessEnv;
  /** The folder that it runs in, where it looks for `stile.config.json`. */
  readonly folder: string;
  readonly pid: number;
  /** The output of all starts so far. */
  logs(): string;
  /** Sends a signal and waits for the process to exit. Does not stop its embedded database. */
  kill(signal?: NodeJS.Signals): Promise<void>;
  /** Waits until it ends by itself, and returns its exit code; null after a signal. */
  ended(): Promise<number | null>;
  /**
   * Restarts it on the same address and data, after SIGTERM if it still runs.
   *
   * @param changes of its environment
   */
  restart(changes?: Record<string, string>): Promise<void>;
  /** Stops it and removes its data, unless its folder was given. */
  stop(): Promise<void>;
}

/** What answers requests: the service's own listener, or Next. */
export type Under = "stile" | "next";

export interface ServerOptions {
  /** Data folder that exists and stays. Default: a new one, which is removed. */
  dataDir?: string;
  /** Environment variables. Of the caller's environment only basic variables are inherited. */
  env?: Record<string, string>;
  /** Whether it runs as by `npm start`, or as by `npm run start:next`: Next alone. Default: `stile`. */
  under?: Under;
  /** Another program than this version's build, or another folder: that it runs in, and the parameters of `node`. */
  program?: { folder: string; parameters: string[] };
}

const root = join(import.meta.dirname, "../..");
const entry = join(root, "dist/bundle/main.js");

/** Reached by a start that hangs only. */
const START_TIMEOUT_MS = 240_000;

/**
 * Starts the built server on a free port and waits until it is ready.
 *
 * @throws Error with the output of the server if it exits instead
 */
export async function startServer(options: ServerOptions = {}): Promise<RunningServer> {
  const { program } = options;
  if (!program && !existsSync(entry)) throw new Error("the server is not built: npm run build");
  const dataDir = options.dataDir ?? mkdtempSync(join(tmpdir(), "stile server "));
  // PostgreSQL may run under another account, which needs access to this folder.
  chmodSync(dataDir, 0o711);
  const port = await freePort();
  const url = `http://localhost:${port}`;
  const folder = program?.folder ?? root;
  const own = { NODE_ENV: "development" as const, PORT: String(port), BASE_URL: url, DATA_DIR: dataDir };
  const secrets = { SECRET_KEYS: randomBytes(24).toString("hex") };
  const env: NodeJS.ProcessEnv = Object.assign(own, inherited(), secrets, options.env);
  // A file, because this process would have to read every line from a pipe.
  const logFile = join(dataDir, "server.log");
  rmSync(logFile, { force: true });
  const logs = () => (existsSync(logFile) ? readFileSync(logFile, "utf8") : "");
  let child: ChildProcess;
  let gone: Promise<void>;

  async function launch(): Promise<void> {
    const log = openSync(logFile, "a");
    const parameters = program?.parameters ?? startParameters[options.under ?? "stile"];
    const started = spawn(process.execPath, [...parameters], {
      cwd: folder,
      env,
      stdio: ["ignore", log, log],
    });
    closeSync(log);
    child = started;
    gone = new Promise((resolve) => started.once("exit", () => resolve()));
    await ready(url, () => started.exitCode ?? started.signalCode, logs);
  }

  const running = () => child.exitCode === null && child.signalCode === null;
  const abandon = () => void (running() && child.kill("SIGTERM"));

  async function kill(signal: NodeJS.Signals = "SIGKILL"): Promise<void> {
    if (running()) child.kill(signal);
    await gone;
  }

  try {
    await launch();
  } catch (error) {
    abandon();
    throw error;
  }
  // An interrupted test run skips its tear-down.
  process.once("exit", abandon);

  return {
    url,
    dataDir,
    environment: env,
    folder,
    get pid() {
      return child.pid ?? 0;
    },
    logs,
    kill,
    async ended() {
      await gone;
      return child.exitCode;
    },
    async restart(changes = {}) {
      await kill("SIGTERM");
      Object.assign(env, changes);
      await launch();
    },
    async stop() {
      process.removeListener("exit", abandon);
      await kill("SIGTERM");
      await endDatabase(dataDir);
      if (options.dataDir) return;
      rmSync(sharedFolderOf(dataDir), { recursive: true, force: true });
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

function inherited(): Record<string, string> {
  const names = ["PATH", "HOME", "TMPDIR", "LANG", "TZ", "USER", "SystemRoot"];
  return Object.fromEntries(names.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])));
}

async function ready(url: string, ended: () => unknown, output: () => string): Promise<void> {
  const deadline = Date.now() + START_TIMEOUT_MS;
  for (;;) {
    if (ended() !== null) throw new Error(`the server ended (${ended()}) before it was ready:\n${output()}`);
    if (Date.now() > deadline)
      throw new Error(`the server is not ready after ${START_TIMEOUT_MS} ms:\n${output()}`);
    const answer = await fetch(`${url}/health/ready`).catch(() => undefined);
    await answer?.arrayBuffer();
    if (answer?.status === 200) return;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}

/** Stops the embedded database, which a killed server leaves running for the next server to adopt. */
async function endDatabase(dataDir: string): Promise<void> {
  const file = join(dataDir, "postgres", "postmaster.pid");
  if (!existsSync(file)) return;
  const pid = Number(readFileSync(file, "utf8").split("\n")[0]);
  try {
    for (process.kill(pid, "SIGINT"); ; process.kill(pid, 0))
      await new Promise((resolve) => setTimeout(resolve, 20));
  } catch {
    // No such process: it has exited.
  }
}

/** The folder of programs and data that another account must read; see `server/database/embedded.ts`. */
function sharedFolderOf(dataDir: string): string {
  return join(
    "/var/lib/stile",
    createHash("sha256").update(realpathSync(dataDir)).digest("hex").slice(0, 16),
  );
}

import { type ChildProcess, fork } from "node:child_process";
import { extname, join } from "node:path";
import type { FromHost, HostCalls, HostOptions, ToHost } from "./host-calls.ts";

/** The running process of a server for tests. */
export interface HostProcess {
  url: string;
  calls: HostCalls;
  /** Ends the server and its database, and waits until both have ended. */
  stop(): Promise<void>;
}

/** Variables that the process of the server inherits; no setting of a server is among them. */
const inherited = ["PATH", "HOME", "TMPDIR", "TEMP", "TMP", "LANG", "TZ", "USER", "SystemRoot"];

/**
 * Starts the process of a server for tests and waits until it is ready. It ends with the process that started it,
 * even if that is killed.
 *
 * @throws Error with one line that says why it did not start
 */
export async function startHost(options: HostOptions): Promise<HostProcess> {
  const extension = extname(import.meta.filename);
  const child = fork(join(import.meta.dirname, `host${extension}`), [], {
    // Outside the repository only the compiled modules can be loaded.
    execArgv: extension === ".js" ? ["--conditions=stile-dist"] : [],
    env: {
      NODE_ENV: "development",
      ...Object.fromEntries(
        inherited.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])),
      ),
    },
    serialization: "advanced",
    stdio: ["ignore", "ignore", "pipe", "ipc"],
  });
  let errors = "";
  child.stderr?.on("data", (chunk: Buffer) => {
    errors = `${errors}${chunk}`.slice(-10_000);
  });
  const exited = new Promise<void>((resolve) => child.once("close", () => resolve()));

  const url = await new Promise<string>((resolve, reject) => {
    const failed = (reason: string) => reject(new Error(`the server for tests did not start: ${reason}`));
    child.once("error", (error) => failed(error.message));
    child.once("close", () => failed(errors.trim() || "its process ended"));
    child.on("message", (message: FromHost) => {
      if (message.kind === "ready") resolve(message.url);
      if (message.kind === "failed") failed(message.reason);
    });
    child.send({ kind: "start", options } satisfies ToHost);
  });
  // A test that forgets to close the server must be able to end; the server ends when the channel does.
  child.unref();
  child.channel?.unref();
  (child.stderr as { unref?(): void } | null)?.unref?.();
  return {
    url,
    calls: callsOf(child, () => errors.trim()),
    async stop() {
      child.ref();
      if (child.connected) child.send({ kind: "stop" } satisfies ToHost);
      await exited;
    },
  };
}

function callsOf(child: ChildProcess, reason: () => string): HostCalls {
  const waiting = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
  let last = 0;
  const settled = (id: number) => {
    const one = waiting.get(id);
    waiting.delete(id);
    // While an answer is awaited, the process of the test must not end.
    if (waiting.size === 0) child.channel?.unref();
    return one;
  };
  child.on("message", (message: FromHost) => {
    if (message.kind === "result") settled(message.id)?.resolve(message.value);
    if (message.kind === "rejected") settled(message.id)?.reject(new Error(message.reason));
  });
  child.once("close", () => {
    for (const id of [...waiting.keys()]) settled(id)?.reject(new Error(`the server ended. ${reason()}`));
  });
  return new Proxy({} as HostCalls, {
    get:
      (_, name: string) =>
      (...parameters: unknown[]) =>
        new Promise((resolve, reject) => {
          if (!child.connected) return reject(new Error("the server for tests is closed"));
          last += 1;
          waiting.set(last, { resolve, reject });
          child.channel?.ref();
          child.send({ kind: "call", id: last, name: name as keyof HostCalls, parameters } satisfies ToHost);
        }),
  });
}

import { type ChildProcess, type ForkOptions, fork } from "node:child_process";
import { once } from "node:events";

/** A server of the benchmark in a process of its own. */
export interface ForkedServer {
  url: string;
  child: ChildProcess;
}

/** Starts a program that takes its settings from its parent and then sends its port. */
export async function forkServer(
  program: string,
  settings: object,
  options: ForkOptions = {},
): Promise<ForkedServer> {
  const child = fork(program, options);
  child.send(settings);
  const [{ port }] = (await once(child, "message")) as [{ port: number }];
  // Its origin may be localhost; the connection has to be made to the address it listens on.
  return { url: `http://127.0.0.1:${port}`, child };
}

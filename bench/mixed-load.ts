import type { Measured } from "./tasks.ts";

/** Seconds of a task before the next one has its turn. */
const TURN_SECONDS = 5;

export interface MixedLoad {
  tasks: readonly Measured[];
  /** Performs a task for a time; returns how many were finished. */
  perform(task: Measured, seconds: number): Promise<number>;
  /** Mebibytes of resident memory of the server and of PostgreSQL. */
  memory(): { server: number; postgres: number };
  print(text: string): void;
}

/**
 * Gives every task its turn again and again, and prints after each cycle what was done and what memory the processes
 * take: a server that keeps something of each request grows.
 *
 * @param seconds a cycle that has begun is finished
 */
export async function loadMixed(
  seconds: number,
  { tasks, perform, memory, print }: MixedLoad,
): Promise<void> {
  const turns = tasks.filter(({ webhooks }) => !webhooks);
  const begin = performance.now();
  const elapsed = () => (performance.now() - begin) / 1000;
  let done = 0;
  print("minutes, tasks, MiB of the server, MiB of PostgreSQL");
  while (elapsed() < seconds) {
    for (const task of turns) done += await perform(task, TURN_SECONDS);
    const { server, postgres } = memory();
    print([elapsed() / 60, done, server, postgres].map((figure) => figure.toFixed(0)).join(", "));
  }
}

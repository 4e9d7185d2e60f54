import { randomInt } from "node:crypto";
import { createServer } from "node:net";

/**
 * Ports below those that systems give to outgoing connections (Linux from 32768, others from 49152). A port of those can
 * be taken by any connection between its choice here and the start of the server that is to listen at it.
 */
const FIRST = 20_000;

/** Each of the processes that run tests at the same time has its own ports. */
const BLOCK = 1_000;
const BLOCKS = 12;

const worker = Number(process.env.TEST_PARALLEL_INDEX ?? process.env.VITEST_POOL_ID ?? 0);
const block = FIRST + (worker % BLOCKS) * BLOCK;

let next = randomInt(BLOCK);

/** Finds a free TCP port, which no other call of these tests is given soon. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < BLOCK; tries++) {
    const port = block + (next++ % BLOCK);
    if (await isFree(port)) return port;
  }
  throw new Error(`no port is free from ${block} to ${block + BLOCK - 1}`);
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once("error", () => resolve(false));
    probe.listen(port, () => probe.close(() => resolve(true)));
  });
}

import { randomInt } from "node:crypto";
import { createSocket, type Socket } from "node:dgram";
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

/**
 * Sockets of UDP at the ports that were given last. They keep programs that run at the same time, as two runs of the
 * tests, from choosing a port whose server has not started yet, or is being restarted.
 */
const reserved: Socket[] = [];
const MAX_RESERVED = BLOCK / 2;

/** Finds a free TCP port, which no other call, of this process or another one, is given soon. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < BLOCK; tries++) {
    const port = block + (next++ % BLOCK);
    if ((await reserve(port)) && (await isFree(port))) return port;
  }
  throw new Error(`no port is free from ${block} to ${block + BLOCK - 1}`);
}

function reserve(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createSocket("udp4").unref();
    socket.once("error", () => {
      socket.close();
      resolve(false);
    });
    socket.bind({ port, address: "127.0.0.1", exclusive: true }, () => {
      reserved.push(socket);
      if (reserved.length > MAX_RESERVED) reserved.shift()?.close();
      resolve(true);
    });
  });
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once("error", () => resolve(false));
    probe.listen(port, () => probe.close(() => resolve(true)));
  });
}

import type { Socket } from "node:net";
import { type PostgresProxy, postgresProxy } from "./postgres-proxy.ts";

/** A TCP proxy whose two sides can be separated. */
export interface SeverableProxy extends PostgresProxy {
  /** Passes nothing on from now on, and ends no connection, as a network that drops packets does. */
  sever(): void;
  /** Passes on again, also what was sent meanwhile. */
  mend(): void;
}

/** @param url address of a server, with its port */
export async function severableProxy(url: string): Promise<SeverableProxy> {
  const pairs = new Set<readonly [Socket, Socket]>();
  let isSevered = false;
  const connect = ([client, server]: readonly [Socket, Socket]) => {
    client.pipe(server);
    server.pipe(client);
  };
  const proxy = await postgresProxy(url, (client, server) => {
    const pair = [client, server] as const;
    pairs.add(pair);
    for (const [socket, other] of [pair, [server, client]] as const)
      socket.on("close", () => {
        pairs.delete(pair);
        other.destroy();
      });
    if (!isSevered) connect(pair);
  });
  return {
    ...proxy,
    sever() {
      isSevered = true;
      for (const sockets of pairs)
        for (const socket of sockets) {
          socket.unpipe();
          socket.pause();
        }
    },
    mend() {
      isSevered = false;
      for (const pair of pairs) connect(pair);
    },
  };
}

import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** A server between a client and PostgreSQL. */
export interface PostgresProxy {
  /** Address of the same database, through it. */
  url: string;
  /** Ends all connections. */
  close(): Promise<void>;
}

/**
 * @param databaseUrl `postgres://` address without TLS
 * @param join passes data on between the sockets of a new connection, and ends one of them with the other
 */
export async function postgresProxy(
  databaseUrl: string,
  join: (client: Socket, database: Socket) => void,
): Promise<PostgresProxy> {
  const url = new URL(databaseUrl);
  const { port, hostname } = url;
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const database = connect(Number(port), hostname);
    for (const socket of [client, database]) {
      sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => sockets.delete(socket));
    }
    join(client, database);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

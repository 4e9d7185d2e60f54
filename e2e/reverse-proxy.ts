import { connect, createServer, type Socket } from "node:net";
import { freePort } from "../server/testing/free-port.ts";

/** A TCP proxy whose address is known before the server behind it has started. */
export interface ReverseProxy {
  url: string;
  /** Sets the server that it connects to. */
  setTarget(url: string): void;
  close(): Promise<void>;
}

/** Opens the proxy. Identity providers need the return address before the server starts. */
export async function openReverseProxy(): Promise<ReverseProxy> {
  const port = await freePort();
  const sockets = new Set<Socket>();
  let targetPort = 0;
  const server = createServer((incoming) => {
    const outgoing = connect(targetPort, "localhost");
    for (const socket of [incoming, outgoing]) {
      sockets.add(socket);
      socket.on("error", () => socket.destroy());
      socket.on("close", () => {
        sockets.delete(socket);
        incoming.destroy();
        outgoing.destroy();
      });
    }
    incoming.pipe(outgoing).pipe(incoming);
  });
  await new Promise<void>((resolve) => server.listen(port, "localhost", resolve));
  return {
    url: `http://localhost:${port}`,
    setTarget(url) {
      targetPort = Number(new URL(url).port);
    },
    close() {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

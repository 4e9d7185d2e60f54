import { connect, createServer, type Socket } from "node:net";
import { freePort } from "../server/testing/server.ts";

/** A TCP proxy whose address is known before the server behind it has started. */
export interface Front {
  url: string;
  /** Sets the server that it connects to. */
  leadsTo(url: string): void;
  close(): Promise<void>;
}

/** Opens the proxy. Identity providers need the return address before the server starts. */
export async function openFront(): Promise<Front> {
  const port = await freePort();
  const open = new Set<Socket>();
  let behind = 0;
  const front = createServer((near) => {
    const far = connect(behind, "localhost");
    for (const socket of [near, far]) {
      open.add(socket);
      socket.on("error", () => socket.destroy());
      socket.on("close", () => {
        open.delete(socket);
        near.destroy();
        far.destroy();
      });
    }
    near.pipe(far).pipe(near);
  });
  await new Promise<void>((resolve) => front.listen(port, "localhost", resolve));
  return {
    url: `http://localhost:${port}`,
    leadsTo(url) {
      behind = Number(new URL(url).port);
    },
    close() {
      for (const socket of open) socket.destroy();
      return new Promise((resolve) => front.close(() => resolve()));
    },
  };
}

import { connect, createServer, type Socket } from "node:net";
import { freePort } from "../server/testing/server.ts";

/** An address that is known before the server behind it has one of its own. */
export interface Front {
  url: string;
  /** From now on it leads to this server. */
  leadsTo(url: string): void;
  close(): Promise<void>;
}

/** Opens the address. Identity providers have to be told where people come back to before the server starts. */
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

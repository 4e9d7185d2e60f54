import type { Socket } from "node:net";
import { type PostgresProxy, postgresProxy } from "./postgres-proxy.ts";

/** A proxy that cuts a connection while PostgreSQL keeps its end of it. */
export interface CuttingProxy extends PostgresProxy {
  /** Keeps back what clients send that contains this text, and calls `onHeld` instead. */
  hold(text: string, onHeld: () => void): void;
  /** Cuts the client that sent what is kept back. */
  cut(): void;
  /** Sends what is kept back to PostgreSQL, and returns after it has answered all of it. */
  deliver(): Promise<void>;
}

/** ReadyForQuery, which ends PostgreSQL's answer to each Sync (PostgreSQL manual, 54.7): Z, the length, and the status. */
const READY = Buffer.from("Z\0\0\0\x05I", "latin1");

/** @param databaseUrl `postgres://` address without TLS */
export async function cuttingProxy(databaseUrl: string): Promise<CuttingProxy> {
  let awaited: { text: string; onHeld: () => void } | null = null;
  let held: { client: Socket; database: Socket; data: Buffer } | null = null;
  const proxy = await postgresProxy(databaseUrl, (client, database) => {
    client.on("data", (data) => {
      if (awaited && data.includes(awaited.text)) {
        const { onHeld } = awaited;
        awaited = null;
        held = { client, database, data };
        onHeld();
      } else database.write(data);
    });
    database.on("data", (data) => {
      if (!client.destroyed) client.write(data);
    });
    client.on("close", () => {
      if (held?.client !== client) database.destroy();
    });
    database.on("close", () => client.destroy());
  });
  return {
    ...proxy,
    hold(text, onHeld) {
      awaited = { text, onHeld };
    },
    cut() {
      held?.client.destroy();
    },
    async deliver() {
      if (!held) throw new Error("nothing is kept back");
      const { database, data } = held;
      const answered = new Promise<void>((resolve) => {
        let answer: Buffer = Buffer.alloc(0);
        database.on("data", (received) => {
          answer = Buffer.concat([answer, received]);
          if (answer.includes(READY)) resolve();
        });
      });
      database.write(data);
      await answered;
    },
  };
}

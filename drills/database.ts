import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { type PostgresPair, startPostgresPair } from "../server/testing/postgres-pair.ts";
import { type Drills, drill, nothing, type Surroundings } from "./drill.ts";

interface WithPair extends Surroundings {
  pair: PostgresPair;
}

async function withPair(): Promise<WithPair> {
  const pair = await startPostgresPair();
  return { pair, env: { DATABASE_URL: pair.url }, close: () => pair.stop() };
}

/** Time that a failover takes: something has to notice, and to promote the standby. */
const PROMOTION_MS = 3_000;

/** The process id of the embedded PostgreSQL of a data folder. */
const postmasterOf = (dataDir: string) =>
  Number(readFileSync(join(dataDir, "postgres/postmaster.pid"), "utf8").split("\n")[0]);

/** The database is killed or hangs. */
export const databaseDrills: Drills = {
  "killed-database": drill({
    done: "the embedded PostgreSQL is killed (kill -9)",
    log: /the embedded PostgreSQL ended/,
    mayMissMs: 8_000,
    surround: nothing,
    async harm(server) {
      process.kill(postmasterOf(server.dataDir), "SIGKILL");
    },
  }),
  "killed-primary": drill({
    done: "the primary is killed (kill -9), and its standby promoted after three seconds",
    alert: "StileErrors",
    log: /the database has another primary/,
    mayMissMs: PROMOTION_MS + 5_000,
    surround: withPair,
    async harm(_, { pair }) {
      pair.killPrimary();
      await pause(PROMOTION_MS);
      await pair.promote();
    },
  }),
  "hanging-primary": drill({
    done: "the primary hangs (SIGSTOP), and its standby is promoted after three seconds",
    alert: "StileErrors",
    log: /the database has another primary/,
    mayMissMs: PROMOTION_MS + 5_000,
    surround: withPair,
    async harm(_, { pair }) {
      pair.pausePrimary();
      await pause(PROMOTION_MS);
      await pair.promote();
    },
  }),
  "paused-database": drill({
    done: "the only PostgreSQL hangs for eight seconds (SIGSTOP)",
    alert: "StileNotReady",
    log: /the database does not answer/,
    mayMissMs: 14_000,
    surround: withPair,
    async harm(_, { pair }) {
      pair.pausePrimary();
      await pause(8_000);
      pair.resumePrimary();
    },
  }),
};

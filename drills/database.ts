import { chmodSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { type PostgresPair, startPostgresPair } from "../server/testing/postgres-pair.ts";
import { fillDisk, smallDisk } from "../server/testing/small-disk.ts";
import { type Drill, type Drills, drill, nothing, type Surroundings } from "./drill.ts";

interface WithPair extends Surroundings {
  pair: PostgresPair;
}

async function withPair(): Promise<WithPair> {
  const pair = await startPostgresPair();
  return { pair, env: { DATABASE_URL: pair.url }, close: () => pair.stop() };
}

/** Time that a failover takes: something has to notice, and to promote the standby. */
const PROMOTION_MS = 6_000;

/** The process id of the embedded PostgreSQL of a data folder. */
const postmasterOf = (dataDir: string) =>
  Number(readFileSync(join(dataDir, "postgres/postmaster.pid"), "utf8").split("\n")[0]);

/** The embedded PostgreSQL has a small disk of its own. The log of the server is elsewhere. */
async function withSmallDisk(): Promise<Surroundings> {
  const folder = mkdtempSync(join(smallDisk ?? "", "data-"));
  // PostgreSQL may run under another account.
  chmodSync(folder, 0o711);
  return {
    env: { DATA_DIR: folder },
    close: async () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** How long the disk is full. */
const FULL_MS = 8_000;

/** The primary is harmed, and something promotes its standby. */
const lostPrimary = (done: string, harm: (pair: PostgresPair) => void): Drill =>
  drill<WithPair>({
    done: `${done}, and its standby is promoted after six seconds`,
    alert: "StileErrors",
    log: /the database has another primary/,
    mayMissMs: PROMOTION_MS + 5_000,
    surround: withPair,
    async harm(_, { pair }) {
      harm(pair);
      await pause(PROMOTION_MS);
      await pair.promote();
    },
  });

/** The database is killed or hangs, or its disk is full. */
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
  "killed-primary": lostPrimary("the primary is killed (kill -9)", (pair) => pair.killPrimary()),
  "hanging-primary": lostPrimary("the primary hangs (SIGSTOP)", (pair) => pair.pausePrimary()),
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
  "full-disk": drill({
    done: "the disk of the embedded PostgreSQL is full for eight seconds",
    alert: "StileNotReady",
    log: /database_disk_full|No space left on device|the embedded PostgreSQL ended/,
    mayMissMs: FULL_MS + 12_000,
    obstacle: () =>
      smallDisk === undefined
        ? "no file system can be mounted: it needs root, or unshare (util-linux) and namespaces of users"
        : null,
    surround: withSmallDisk,
    async harm() {
      const filler = join(smallDisk ?? "", "filler");
      const end = performance.now() + FULL_MS;
      // What PostgreSQL gives free is filled, too.
      while (performance.now() < end) {
        fillDisk(filler);
        await pause(250);
      }
      rmSync(filler);
    },
  }),
};

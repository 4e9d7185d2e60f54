import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { type PostgresPair, startPostgresPair } from "../server/testing/postgres-pair.ts";
import type { RunningServer } from "../server/testing/server.ts";
import { startReceiver, type WebhookReceiver } from "../server/testing/webhook-receiver.ts";

/** What stands around a server in a drill. */
export interface Surroundings {
  /** Settings of the server. */
  env: Record<string, string>;
  close(): Promise<void>;
}

export interface Drill<Around extends Surroundings = Surroundings> {
  /** What is done, for the table. */
  done: string;
  /** The alert that has to fire. */
  alert?: string;
  /** What the log has to say. */
  log: RegExp;
  /** The longest time without a login, in milliseconds. */
  mayMissMs: number;
  surround(): Promise<Around>;
  harm(server: RunningServer, around: Around): Promise<void>;
}

const nothing = async (): Promise<Surroundings> => ({ env: {}, close: async () => {} });

interface WithPair extends Surroundings {
  pair: PostgresPair;
}

async function withPair(): Promise<WithPair> {
  const pair = await startPostgresPair();
  return { pair, env: { DATABASE_URL: pair.url }, close: () => pair.stop() };
}

interface WithReceiver extends Surroundings {
  receiver: WebhookReceiver;
}

async function withReceiver(): Promise<WithReceiver> {
  const receiver = await startReceiver();
  return {
    receiver,
    env: {
      STILE_WEBHOOKS_ENABLED: "true",
      STILE_WEBHOOKS_ALLOW_PRIVATE_TARGETS: "true",
      STILE_WEBHOOKS_HOOKS: JSON.stringify([{ callback: receiver.url, events: ["user", "session"] }]),
    },
    close: () => receiver.close(),
  };
}

const drill = <Around extends Surroundings>(one: Drill<Around>): Drill => one as unknown as Drill;

/** Time that a failover takes: something has to notice, and to promote the standby. */
const PROMOTION_MS = 3_000;

/** The process ids of workers, from the log. */
function workersOf(server: RunningServer): number[] {
  return [...server.logs().matchAll(/"worker":(\d+),"instance":"[^"]+","message":"a worker serves"/g)].map(
    ([, pid]) => Number(pid),
  );
}

/** The process id of the embedded PostgreSQL of a data folder. */
const postmasterOf = (dataDir: string) =>
  Number(readFileSync(join(dataDir, "postgres/postmaster.pid"), "utf8").split("\n")[0]);

export const drills: Readonly<Record<string, Drill>> = {
  "killed-worker": drill({
    done: "one of two workers is killed (kill -9)",
    log: /a worker ended; another one is started/,
    mayMissMs: 2_000,
    surround: async () => ({ env: { STILE_SERVER_WORKERS: "2" }, close: async () => {} }),
    async harm(server) {
      const [worker] = workersOf(server);
      if (worker === undefined) throw new Error("no worker serves");
      process.kill(worker, "SIGKILL");
    },
  }),
  "killed-server": drill({
    done: "the server is killed (kill -9) and started again after three seconds",
    alert: "StileDown",
    log: /Stile is ready/,
    mayMissMs: 12_000,
    surround: nothing,
    async harm(server) {
      await server.kill("SIGKILL");
      await pause(3_000);
      await server.restart();
    },
  }),
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
  "hanging-receiver": drill({
    done: "the receiver of webhooks hangs for fifteen seconds",
    alert: "StileDeliveriesWait",
    log: /delivery of an event failed and will be retried/,
    mayMissMs: 2_000,
    surround: withReceiver,
    async harm(_, { receiver }) {
      const { answer } = receiver;
      receiver.answer = () => {};
      await pause(15_000);
      receiver.answer = answer;
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

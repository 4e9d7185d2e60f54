import { randomBytes } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { isInstalled, packageOf } from "../scripts/test-programs.ts";
import { eventually } from "../server/testing/eventually.ts";
import {
  type PatroniCluster,
  type PatroniMember,
  patroniTimes,
  startPatroniCluster,
} from "../server/testing/patroni/patroni-cluster.ts";
import { withClient } from "../server/testing/postgres-cluster.ts";
import { type Drill, type Drills, drill, type Findings, type Surroundings } from "./drill.ts";
import { type Messages, startMessages } from "./messages.ts";

interface WithPatroni extends Surroundings {
  cluster: PatroniCluster;
  messages: Messages;
}

async function withPatroni(): Promise<WithPatroni> {
  const [cluster, messages] = [await startPatroniCluster(), await startMessages()];
  return {
    cluster,
    messages,
    env: {
      ...messages.env,
      DATABASE_URL: cluster.url,
      SECRET_KEYS: randomBytes(24).toString("hex"),
    },
    // Visitors reach the first one. Both send what is due.
    servers: 2,
    async close() {
      await messages.close();
      await cluster.stop();
    },
  };
}

/** Logins have to succeed again within this time after the new primary takes writes. */
const MAX_ANSWER_MS = 5_000;

/** The standby may only become the primary when the time of the former one has run out. */
const LEASE_MS = (patroniTimes.ttl + patroniTimes.loop_wait) * 1_000;

const POLL_MS = 50;

/** How long before the end of its lock a watchdog ends a member (`watchdog.safety_margin` of Patroni). */
const WATCHDOG_MARGIN_S = 5;

const missing = (["patroni", "etcd"] as const).filter((name) => !isInstalled(name));

/** Waits until a server takes a write, which is of no table. */
async function takesWrites({ ownUrl }: PatroniMember): Promise<void> {
  for (;;) {
    const isWritten = await withClient(`${ownUrl}?query_timeout=1000`, (client) =>
      client.query("select pg_logical_emit_message(true, 'drill', '')"),
    ).then(
      () => true,
      () => false,
    );
    if (isWritten) return;
    await pause(POLL_MS);
  }
}

interface Failover {
  done: string;
  alert?: string;
  mayMissMs: number;
  harm(primary: PatroniMember, cluster: PatroniCluster): void | Promise<void>;
  /** Brings the former primary back. Default: it stays away. */
  mend?(primary: PatroniMember): void;
}

/** Harms the primary of Patroni, and measures from the moment at which the other member takes writes. */
const failover = ({ done, alert, mayMissMs, harm, mend }: Failover): Drill =>
  drill<WithPatroni>({
    done,
    ...(alert === undefined ? {} : { alert }),
    log: /the database has another primary/,
    mayMissMs,
    obstacle: () =>
      missing.length === 0
        ? null
        : `${missing.join(" and ")} not installed (apt-get install ${missing.map(packageOf).join(" ")})`,
    surround: withPatroni,
    async harm(server, { cluster }, _, load): Promise<Findings> {
      const { pid } = server;
      const { leader: primary, candidate: standby } = await cluster.roles();
      const harmedAt = performance.now();
      const harming = harm(primary, cluster);
      await takesWrites(standby);
      const writesAt = performance.now();
      const before = load.succeeded();
      await eventually(() => {
        if (load.succeeded() === before) throw new Error("no login has succeeded again");
      });
      const answeredMs = Math.round(performance.now() - writesAt);
      await harming;
      mend?.(primary);
      if (mend)
        await eventually(async () => {
          if (await primary.leads()) throw new Error("the former primary leads");
        });
      return {
        notes: [
          `the standby took writes after ${seconds(writesAt - harmedAt)}, and a login succeeded ${seconds(answeredMs)} later`,
        ],
        faults: [
          ...(answeredMs > MAX_ANSWER_MS ? [`no login succeeded for ${answeredMs} ms`] : []),
          ...(server.pid === pid ? [] : ["the server was started again"]),
        ],
      };
    },
    review: ({ succeeded }, { cluster, messages }) =>
      messages.review(
        async (text) =>
          withClient(await cluster.primaryUrl(), async (client) => (await client.query(text)).rows),
        succeeded,
      ),
  });

const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`;

/** The primary of Patroni is lost, or changes places with its standby. */
export const patroniDrills: Drills = {
  "patroni-killed": failover({
    done: "Patroni: the primary and its Patroni are killed (kill -9)",
    alert: "StileErrors",
    mayMissMs: LEASE_MS + MAX_ANSWER_MS,
    harm: (primary) => primary.kill(),
  }),
  "patroni-paused": failover({
    done: "Patroni: the primary and its Patroni hang (SIGSTOP), and are ended as by a watchdog before their lock runs out",
    alert: "StileErrors",
    mayMissMs: LEASE_MS + MAX_ANSWER_MS,
    async harm(primary) {
      primary.pause();
      // Without a watchdog, Patroni 3.0 goes on and takes the lock of the new primary (docs/operating/failover.md).
      await pause((patroniTimes.ttl - WATCHDOG_MARGIN_S) * 1_000);
      await primary.kill();
    },
  }),
  "patroni-cut-off": failover({
    done: "Patroni: the primary runs, and reaches neither etcd, its standby nor Stile until after the failover",
    alert: "StileErrors",
    mayMissMs: LEASE_MS + MAX_ANSWER_MS,
    harm: (primary) => primary.cutOff(),
    mend: (primary) => primary.connect(),
  }),
  "patroni-switch-over": failover({
    done: "Patroni: the standby becomes the primary by a switch-over",
    mayMissMs: 10_000,
    harm: (_, cluster) => cluster.switchOver(),
  }),
};

import { randomBytes } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { isInstalled } from "../scripts/test-programs.ts";
import { freePort } from "../server/testing/free-port.ts";
import { copyTemplate, startTestCluster } from "../server/testing/postgres-cluster.ts";
import { startBalancer } from "../server/testing/reverse-proxies.ts";
import type { RunningServer } from "../server/testing/server.ts";
import { type Drills, drill, nothing, type Surroundings } from "./drill.ts";

/** The process ids of workers, from the log. */
function workersOf(server: RunningServer): number[] {
  return [...server.logs().matchAll(/"worker":(\d+),"instance":"[^"]+","message":"a worker serves"/g)].map(
    ([, pid]) => Number(pid),
  );
}

/** Two servers over one PostgreSQL, behind HAProxy. */
async function withBalancer(): Promise<Surroundings> {
  const postgres = await startTestCluster();
  const { url } = await copyTemplate(postgres.cluster);
  const port = await freePort();
  const front = `http://localhost:${port}`;
  return {
    env: {
      DATABASE_URL: url,
      BASE_URL: front,
      SECRET_KEYS: randomBytes(24).toString("hex"),
      STILE_SERVER_TRUSTED_PROXIES: "127.0.0.1",
    },
    servers: 2,
    async openFront(servers) {
      const [one, two] = servers.map((server) => Number(new URL(server.url).port));
      if (one === undefined || two === undefined) throw new Error("two servers are needed");
      const { stop } = await startBalancer(port, [one, two]);
      return { url: front, close: stop };
    },
    close: () => postgres.stop(),
  };
}

/** Time between two restarts: the balancer has found the server again. */
const BETWEEN_RESTARTS_MS = 3_000;

/** Processes of a server are killed, or end by a signal. */
export const processDrills: Drills = {
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
  "rolling-restart": drill({
    done: "two servers behind HAProxy are restarted (SIGTERM) one after the other, twice",
    alert: "StileDown",
    log: /"message":"stopped"/,
    mayMissMs: 2_000,
    mayInterrupt: 0,
    obstacle: () => (isInstalled("haproxy") ? null : "haproxy is not installed (apt-get install haproxy)"),
    surround: withBalancer,
    async harm(_, __, { servers }) {
      for (const server of [...servers, ...servers]) {
        await server.restart();
        await pause(BETWEEN_RESTARTS_MS);
      }
    },
  }),
};

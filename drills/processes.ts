import { setTimeout as pause } from "node:timers/promises";
import { copyTemplate, startTestCluster } from "../server/testing/postgres-cluster.ts";
import type { RunningServer } from "../server/testing/server.ts";
import { balanced, balancerObstacle } from "./balanced.ts";
import { type Drills, drill, nothing, type Surroundings } from "./drill.ts";

/** The process ids of workers, from the log. */
function workersOf(server: RunningServer): number[] {
  return [...server.logs().matchAll(/"worker":(\d+),"instance":"[^"]+","message":"a worker serves"/g)].map(
    ([, pid]) => Number(pid),
  );
}

async function withBalancer(): Promise<Surroundings> {
  const postgres = await startTestCluster();
  const { url } = await copyTemplate(postgres.cluster);
  return { ...(await balanced(url)), close: () => postgres.stop() };
}

/** Time between two restarts: the balancer has found the server again. */
const BETWEEN_RESTARTS_MS = 3_000;

/** Processes of a server are killed, or end by a signal. */
export const processDrills: Drills = {
  "killed-worker": drill({
    done: "one of two workers is killed (kill -9)",
    silent: "StileDown",
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
    log: /"message":"stopped"/,
    mayMissMs: 2_000,
    mayInterrupt: 0,
    obstacle: balancerObstacle,
    surround: withBalancer,
    async harm(_, __, { servers }) {
      for (const server of [...servers, ...servers]) {
        await server.restart();
        await pause(BETWEEN_RESTARTS_MS);
      }
    },
  }),
};

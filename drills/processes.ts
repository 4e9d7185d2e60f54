import { setTimeout as pause } from "node:timers/promises";
import type { RunningServer } from "../server/testing/server.ts";
import { type Drills, drill, nothing } from "./drill.ts";

/** The process ids of workers, from the log. */
function workersOf(server: RunningServer): number[] {
  return [...server.logs().matchAll(/"worker":(\d+),"instance":"[^"]+","message":"a worker serves"/g)].map(
    ([, pid]) => Number(pid),
  );
}

/** Processes of a server are killed. */
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
};

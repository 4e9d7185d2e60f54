import { describe, expect, it } from "vitest";
import { countWorkers, shareConnections } from "./process-count.ts";

const settings = (workers: number | "auto", poolSize = 10) => ({
  server: { workers },
  database: { pool_size: poolSize },
});

describe("the number of workers", () => {
  it.each([
    ["the configured one, whatever the machine has", settings(3), 1, 3],
    ["one on one core", settings("auto"), 1, 1],
    ["one for each core", settings("auto"), 2, 2],
    ["as many as have two connections of each pool", settings("auto"), 16, 4],
    ["one for each core, with a larger pool", settings("auto", 40), 16, 16],
    ["one with a pool that is too small", settings("auto", 2), 16, 1],
  ])("is %s", (_what, config, cores, workers) => {
    expect(countWorkers(config, cores)).toBe(workers);
  });
});

it("divides connections so that all processes together have no more than the pool, and each has one", () => {
  for (let poolSize = 3; poolSize <= 200; poolSize += 1)
    for (let workers = 2; workers < Math.min(poolSize, 65); workers += 1) {
      const { owner, worker } = shareConnections(poolSize, workers);
      expect(owner + workers * worker).toBeLessThanOrEqual(poolSize);
      expect(Math.min(owner, worker)).toBeGreaterThanOrEqual(1);
    }
});

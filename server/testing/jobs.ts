import { randomBytes, randomUUID } from "node:crypto";
import { pino } from "pino";
import type { Database } from "#db/client";
import { loadConfig } from "../config/load.ts";
import type { Config } from "../config/schema.ts";
import { thisRelease } from "../database/releases.ts";
import { createStanding, type Standing } from "../database/standing.ts";
import { createCounters } from "../funnel/counters.ts";
import type { JobKinds, Jobs } from "../jobs/jobs.ts";
import { createJobs } from "../jobs/queue.ts";
import { createVault } from "../keys/vault.ts";
import { createRateLimits } from "../limits/rate-limits.ts";
import type { Job } from "../runtime.ts";
import { createJobKinds } from "../start/job-kinds.ts";

const secretKey = "a secret key that only tests use";

/**
 * Makes jobs over a test's database and records their log lines.
 *
 * @param ownSettings what tenants have set otherwise, by their ids
 */
export function testJobs(
  { database }: { database: Database },
  settings: Record<string, string> = {},
  secretKeys: readonly string[] = [secretKey],
  ownSettings: Record<string, Partial<Config>> = {},
): Jobs<Job> & { logged: string[]; standing: Standing; kinds: JobKinds<Job> } {
  const logged: string[] = [];
  const config = loadConfig(settings, import.meta.dirname);
  const log = pino({ level: "trace" }, { write: (line: string) => logged.push(line) });
  const platform = { randomBytes, uuid: randomUUID, clockShift: () => 0 };
  const standing = createStanding(thisRelease(), log);
  const { kinds, close } = createJobKinds({
    tenant: { id: config.tenant.id, config },
    tenants: { byId: async (id) => ({ id, config: { ...config, ...ownSettings[id] } }) },
    database,
    vault: createVault(secretKeys),
    rates: createRateLimits(config, database),
    platform,
    webhooks: { wake() {} },
    auditOutput: null,
    counters: createCounters({ database, standing, log }),
    log,
  });
  const jobs = createJobs({
    database,
    config,
    kinds,
    platform,
    standing,
    log,
  });
  return {
    ...jobs,
    logged,
    standing,
    kinds,
    async stop() {
      await jobs.stop();
      close();
    },
  };
}

import { randomBytes, randomUUID } from "node:crypto";
import { pino } from "pino";
import type { Database } from "#db/client";
import { loadConfig } from "../config/load.ts";
import { createJobs, type Jobs } from "../jobs/queue.ts";
import { createVault } from "../keys/vault.ts";

const secretKey = "a secret key that only tests use";

/** Jobs over a test's database, and every line that they log. */
export function testJobs(
  { url, database }: { url: string; database: Database },
  settings: Record<string, string> = {},
): Jobs & { logged: string[] } {
  const logged: string[] = [];
  const config = loadConfig(settings, import.meta.dirname);
  const jobs = createJobs({
    databaseUrl: url,
    database,
    config,
    tenants: { byId: async (id) => ({ id, config }) },
    vault: createVault([secretKey]),
    platform: { randomBytes, uuid: randomUUID, clockShift: () => 0 },
    log: pino({ level: "trace" }, { write: (line: string) => logged.push(line) }),
  });
  return { ...jobs, logged };
}

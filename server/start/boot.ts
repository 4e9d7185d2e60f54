import type { Logger } from "pino";
import { openDatabase } from "#db/client";
import type { Config } from "../config/schema.ts";
import { createPasswordHasher } from "../credentials/password-hasher.ts";
import { type EmbeddedDatabase, startEmbedded } from "../database/embedded.ts";
import { takeLease } from "../database/instances.ts";
import { migrateDatabase } from "../database/migrate.ts";
import { purgeExpired, startPurging } from "../database/purge.ts";
import { createJobs } from "../jobs/queue.ts";
import { checkSealingKeys } from "../keys/sealed-columns.ts";
import { secretKeys } from "../keys/secret-keys.ts";
import { createTenantSigningKeys } from "../keys/tenant-signing-keys.ts";
import { createVault } from "../keys/vault.ts";
import type { Platform } from "../lib/platform.ts";
import { createRateLimits } from "../limits/rate-limits.ts";
import type { Runtime } from "../runtime.ts";
import { createTenants } from "../tenants/tenants.ts";
import { createJobKinds } from "./job-kinds.ts";
import { systemPlatform } from "./platform.ts";
import { purgeRules } from "./purge-rules.ts";
import { sealedColumns } from "./sealed-columns.ts";

export interface BootOptions {
  log: Logger;
  /** Whether this process does jobs and clears away expired rows; processes that only answer requests do not. */
  worker: boolean;
  /** See `Runtime`. */
  closing?: AbortSignal;
  /** Other randomness and another clock, for tests. */
  platform?: Platform;
}

/** A runtime that was made here and can be ended. */
export interface BootedRuntime extends Runtime {
  /** The embedded database, where one was started. */
  embedded: EmbeddedDatabase | undefined;
  /** Lets running jobs end, then closes the database, the embedded one with it. Answer no more requests before. */
  stop(): Promise<void>;
}

/**
 * Makes everything that lives as long as the process: starts the embedded database unless one is configured,
 * migrates, opens the pools, and assembles the rest on them. What it started it ends again when it fails.
 *
 * @throws StartError with one line that says what keeps the server from starting
 */
export async function createRuntime(
  config: Config,
  { log, worker, closing, platform = systemPlatform }: BootOptions,
): Promise<BootedRuntime> {
  const vault = createVault(secretKeys(config));
  const endings: (() => Promise<unknown>)[] = [];
  let stopping = false;
  const stop = async () => {
    stopping = true;
    // Each ending happens whatever became of the one before.
    for (const end of endings.splice(0).reverse()) {
      await end().catch((error: unknown) => log.error({ err: error }, "the server did not end cleanly"));
    }
  };

  try {
    const connections = 3 * config.database.pool_size + 20;
    const embedded = config.database_url ? undefined : await startEmbedded(config.data_dir, connections, log);
    if (embedded) endings.push(() => embedded.stop());
    const databaseUrl = config.database_url ?? embedded?.url ?? "";
    await migrateDatabase(databaseUrl, { id: config.tenant.id, name: config.service.name });

    const database = openDatabase(
      databaseUrl,
      config.database.pool_size,
      (error) => stopping || log.warn({ err: error }, "an idle connection to the database broke"),
      config.database.prepared_statements,
    );
    endings.push(() => database.close());

    await checkSealingKeys(database, vault, sealedColumns);

    const instanceId = platform.uuid();
    const lease = await takeLease(database, instanceId, embedded !== undefined, log);
    endings.push(() => lease.end());

    const tenant = { id: config.tenant.id, config };
    const tenants = createTenants({ byDefault: tenant, database, vault });
    const signingKeys = createTenantSigningKeys({ database, vault, platform, log });
    const { kinds, close } = createJobKinds({ tenant, tenants, database, vault });
    endings.push(async () => close());
    const jobs = createJobs({ databaseUrl, database, config, kinds, platform, log });
    endings.push(() => jobs.stop());
    // A first key takes a while to make; nothing waits for that yet.
    await Promise.all([signingKeys.of(tenant).loaded, jobs.start({ worker })]);
    const rules = purgeRules(config);
    const purge = () => purgeExpired(database, rules);
    if (worker) endings.push(startPurging(purge, log));

    return {
      config,
      tenant,
      tenants,
      platform,
      database,
      log,
      vault,
      signingKeys,
      passwordHasher: createPasswordHasher(config.password),
      rates: createRateLimits(config, database),
      jobs,
      purgeExpired: purge,
      instanceId,
      ...(closing ? { closing } : {}),
      embedded,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

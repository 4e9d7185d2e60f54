import type { Logger } from "pino";
import { openDatabase } from "#db/client";
import { rejectsSessionParameters } from "#db/errors";
import { createAuditOutput } from "../audit/audit-output.ts";
import { StartError } from "../config/errors.ts";
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
import { createRefusals } from "../limits/refusals.ts";
import { createTurns } from "../limits/turns.ts";
import type { Runtime } from "../runtime.ts";
import { endExpiredSessions } from "../sessions/expired-sessions.ts";
import { createTenants } from "../tenants/tenants.ts";
import { checkWords } from "../theme/own-words.ts";
import { deleteAbandonedDeliveries } from "../webhooks/abandoned-deliveries.ts";
import { createReceiverClient } from "../webhooks/receiver-client.ts";
import { createWebhookDelivery } from "../webhooks/webhook-delivery.ts";
import { loadAuthenticatorMetadata } from "./authenticator-metadata.ts";
import { createJobKinds } from "./job-kinds.ts";
import { loadLocations } from "./locations.ts";
import { warnOfMissingMailReceivers } from "./mail-receivers.ts";
import { systemPlatform } from "./platform.ts";
import { purgeRules } from "./purge-rules.ts";
import { sealedColumns } from "./sealed-columns.ts";

export interface BootOptions {
  log: Logger;
  /** Whether this process runs jobs and purges expired rows, besides answering requests. */
  worker: boolean;
  /** See `Runtime`. */
  closing?: AbortSignal;
  /** Replaces randomness and the clock in tests. */
  platform?: Platform;
}

/** A runtime that can be stopped. */
export interface BootedRuntime extends Runtime {
  /** The embedded database, if one was started. */
  embedded: EmbeddedDatabase | undefined;
  /** Waits for running jobs, then closes the database and stops the embedded one. Call it after the last request. */
  stop(): Promise<void>;
}

/**
 * Creates the runtime of the process: starts the embedded database unless another one is configured, migrates it,
 * opens the connection pools and composes the features on them. Releases everything again if a part fails.
 *
 * @throws StartError with one line that says why the server cannot start
 */
export async function createRuntime(
  config: Config,
  { log, worker, closing, platform = systemPlatform }: BootOptions,
): Promise<BootedRuntime> {
  const vault = createVault(secretKeys(config));
  const authenticatorMetadata = await loadAuthenticatorMetadata(config, log, new Date());
  const locations = await loadLocations(config);
  const cleanups: (() => Promise<unknown>)[] = [];
  let stopping = false;
  const stop = async () => {
    stopping = true;
    // A failed clean-up does not prevent the others.
    for (const cleanUp of cleanups.splice(0).reverse()) {
      await cleanUp().catch((error: unknown) =>
        log.error({ err: error }, "a clean-up failed while the server stopped"),
      );
    }
  };

  try {
    const connections = 3 * config.database.pool_size + 20;
    const embedded = config.database_url ? undefined : await startEmbedded(config.data_dir, connections, log);
    if (embedded) cleanups.push(() => embedded.stop());
    const databaseUrl = config.database_url ?? embedded?.url ?? "";
    await migrateDatabase(databaseUrl, { id: config.tenant.id, name: config.service.name });

    const database = openDatabase(
      databaseUrl,
      config.database.pool_size,
      (error) => stopping || log.warn({ err: error }, "an idle database connection failed"),
      config.database.prepared_statements,
    );
    cleanups.push(() => database.close());

    await checkSealingKeys(database, vault, sealedColumns).catch((error: unknown) => {
      if (!rejectsSessionParameters(error)) throw error;
      const setting = "STILE_DATABASE_PREPARED_STATEMENTS=false";
      throw new StartError(`the database's pooler accepts no parameters of a session: set ${setting}`);
    });

    const instanceId = platform.uuid();
    const lease = await takeLease(database, instanceId, embedded !== undefined, log);
    cleanups.push(() => lease.end());

    checkWords(config);
    const tenant = { id: config.tenant.id, config };
    const tenants = createTenants({ defaultTenant: tenant, database, vault });
    const signingKeys = createTenantSigningKeys({ database, vault, platform, log });
    const rates = createRateLimits(config, database);
    const client = createReceiverClient({ allowPrivate: config.webhooks.allow_private_targets });
    const auditOutput = createAuditOutput(config);
    const webhooks = createWebhookDelivery({
      config,
      database,
      tenants,
      vault,
      signingKeys,
      platform,
      auditOutput,
      client,
      log,
    });
    cleanups.push(() => webhooks.stop(config.server.shutdown_timeout * 1_000));
    const { kinds, close } = createJobKinds({
      tenant,
      tenants,
      database,
      vault,
      rates,
      platform,
      webhooks,
      log,
    });
    cleanups.push(async () => close());
    const queue = createJobs({ databaseUrl, database, config, kinds, platform, log });
    cleanups.push(() => queue.stop());
    // Generating a first key takes a while, so the jobs start concurrently.
    await Promise.all([signingKeys.of(tenant).loaded, queue.start({ worker })]);
    await warnOfMissingMailReceivers({ tenant, tenants, database }, log);
    const rules = purgeRules(config);
    const purge = async () =>
      (await purgeExpired(database, rules)) +
      (await deleteAbandonedDeliveries(database)) +
      (await endExpiredSessions({ database, tenant, tenants, platform, webhooks }));
    if (worker) {
      webhooks.start();
      cleanups.push(startPurging(purge, log));
    }

    return {
      config,
      tenant,
      tenants,
      platform,
      database,
      log,
      auditOutput,
      vault,
      signingKeys,
      passwordHasher: createPasswordHasher(config.password),
      authenticatorMetadata,
      locations,
      rates,
      refusals: createRefusals(),
      turns: createTurns(config.rate_limiter),
      admission: createTurns({ enabled: true }),
      jobs: queue,
      webhooks,
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

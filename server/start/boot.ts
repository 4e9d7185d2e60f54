import type { Logger } from "pino";
import { openDatabase } from "#db/client";
import { type AuditOutput, createAuditOutput } from "../audit/audit-output.ts";
import { endWaitsFor } from "../authenticator/wait-for-answer.ts";
import type { Config } from "../config/schema.ts";
import { checkPooler } from "../database/check-pooler.ts";
import { type EmbeddedDatabase, startEmbedded } from "../database/embedded.ts";
import { takeLease } from "../database/instances.ts";
import { locateDatabase } from "../database/locate.ts";
import { migrateDatabase } from "../database/migrate.ts";
import { purgeExpired, startPurging } from "../database/purge.ts";
import { asReadOnly } from "../database/read-only.ts";
import { createReadiness } from "../database/readiness.ts";
import { OutgrownError, recordRelease, thisRelease } from "../database/releases.ts";
import { createReplicas } from "../database/replicas.ts";
import { createStanding } from "../database/standing.ts";
import { countSteps } from "../flow/count-steps.ts";
import { measureSteps } from "../flow/measure-steps.ts";
import { createRememberedFlows } from "../flow/remembered-flows.ts";
import { createCounters } from "../funnel/counters.ts";
import type { Jobs } from "../jobs/jobs.ts";
import { createJobs } from "../jobs/queue.ts";
import { checkSealingKeys } from "../keys/sealed-columns.ts";
import { secretKeys } from "../keys/secret-keys.ts";
import { createTenantSigningKeys } from "../keys/tenant-signing-keys.ts";
import { createVault } from "../keys/vault.ts";
import type { Platform } from "../lib/platform.ts";
import { countLimits } from "../limits/count-limits.ts";
import { createRateLimits } from "../limits/rate-limits.ts";
import { createRefusals } from "../limits/refusals.ts";
import { createTurns } from "../limits/turns.ts";
import { createPasswordHasher } from "../methods/password/password-hasher.ts";
import { createDocumentClient } from "../openid/document-client.ts";
import { createLogouts } from "../openid/logouts.ts";
import { createOpenidProviders } from "../openid/providers.ts";
import { createRecorder } from "../recorder/recorder.ts";
import type { Job, Notice, Runtime } from "../runtime.ts";
import { endExpiredSessions } from "../sessions/expired-sessions.ts";
import { createTenants, type Tenants } from "../tenants/tenants.ts";
import { checkWords } from "../theme/own-words.ts";
import { deleteAbandonedDeliveries } from "../webhooks/abandoned-deliveries.ts";
import { createReceiverClient } from "../webhooks/receiver-client.ts";
import { createWebhookDelivery } from "../webhooks/webhook-delivery.ts";
import { answerForProcess } from "./asked-metrics.ts";
import { loadAuthenticatorMetadata } from "./authenticator-metadata.ts";
import { hashesAtOnce } from "./hash-threads.ts";
import { createJobKinds } from "./job-kinds.ts";
import { loadLocations } from "./locations.ts";
import { warnOfMissingReceivers } from "./message-receivers.ts";
import type { OwnerLink } from "./owner-link.ts";
import { systemPlatform } from "./platform.ts";
import type { Collected } from "./telemetry/collected.ts";
import { startTelemetry } from "./telemetry/telemetry.ts";

export interface BootOptions {
  log: Logger;
  /** Whether this process runs jobs and purges expired rows, besides answering requests. */
  worker: boolean;
  /** See `Runtime`. */
  closing?: AbortSignal;
  /** In a process that serves for another one, which has migrated the database and runs jobs: the link to that. */
  owner?: OwnerLink;
  /** Connections of each pool of this process; default: `database.pool_size`. */
  poolSize?: number;
  /** Processes that use the embedded database; default: this one. */
  processes?: number;
  /** Replaces randomness and the clock in tests. */
  platform?: Platform;
}

/** A runtime that can be stopped. */
export interface BootedRuntime extends Runtime {
  /** The embedded database, if one was started. */
  embedded: EmbeddedDatabase | undefined;
  /** The database that it uses, with its password. */
  databaseUrl: string;
  /** The metrics of this process; none where they are not measured. */
  collectMetrics(): Promise<Collected[]>;
  /** Does what another process of this server tells. */
  heed(notice: Notice): void;
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
  {
    log,
    worker,
    closing,
    owner,
    poolSize = config.database.pool_size,
    processes = 1,
    platform = systemPlatform,
  }: BootOptions,
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
    const release = thisRelease();
    const instanceId = owner?.instanceId ?? platform.uuid();
    const isScraped = config.metrics.port !== undefined;
    const telemetry = await startTelemetry(process.env, {
      release: release.version,
      instanceId,
      isScraped,
      log,
    });
    if (telemetry) cleanups.push(() => telemetry.stop());
    const connections = 3 * config.database.pool_size + 17 + 3 * processes;
    const embedded = config.database_url ? undefined : await startEmbedded(config.data_dir, connections, log);
    if (embedded) cleanups.push(() => embedded.stop());
    const databaseUrl = config.database_url ?? embedded?.url ?? "";
    const hosts = await locateDatabase(databaseUrl);
    if (!owner)
      await migrateDatabase(hosts.url, { id: config.tenant.id, name: config.service.name }, { log });

    const database = openDatabase(
      hosts,
      poolSize,
      (error) => stopping || log.warn({ err: error }, "an idle database connection failed"),
      config.database.prepared_statements,
    );
    cleanups.push(() => database.close());
    hosts.onLost(() => log.warn("the database takes no writes; its servers are asked which one does"));
    hosts.onMove(() => log.warn("the database has another primary; connections to the former one are ended"));
    database.watch((count) =>
      log.warn(
        { connections: count },
        "the database does not answer; connections that wait for it are ended",
      ),
    );

    // Nothing pools the connections of the embedded database, and workers have what their owner has tried.
    if (!embedded && !owner) await checkPooler(hosts.url, database, log);
    await checkSealingKeys(database, vault);

    const standing = createStanding(release, log);
    const lease = await takeLease(database, instanceId, embedded !== undefined, log, standing);
    cleanups.push(() => lease.end());
    if (standing.outgrownBy) throw new OutgrownError(release, standing.outgrownBy);
    // The owner of workers answers no requests.
    const answers = owner !== undefined || processes === 1;
    const replicas = createReplicas(answers ? config.database.replicas : [], {
      database,
      size: poolSize,
      maxLagSeconds: config.database.replica_max_lag,
      processId: instanceId,
      lease,
      log,
    });
    cleanups.push(() => replicas.close());
    await replicas.watch();

    // Written at the very end: jobs and deliveries that end before count, too.
    const counters = createCounters({ database, standing, log });
    cleanups.push(() => counters.stop());
    // Processes without a worker or an owner may be stopped between requests, which write then.
    if (worker || owner) counters.start();

    checkWords(config);
    const tenant = { id: config.tenant.id, config };
    const registry = createTenants({ defaultTenant: tenant, database, vault, log });
    const tenants = owner ? tellingOthers(registry, owner) : registry;
    const auditOutput = toAll([createAuditOutput(config), telemetry?.auditOutput ?? null]);
    const means = { config, tenant, tenants, database, vault, platform, auditOutput, counters, log };
    const signingKeys = createTenantSigningKeys(means);
    const rates = createRateLimits(config, database, countLimits(counters, platform));
    const client = createReceiverClient({ allowPrivate: config.webhooks.allow_private_targets });
    const documents = createDocumentClient({ allowPrivate: config.openid.allow_private_targets });
    cleanups.push(async () => documents.close());
    const logouts = {
      ...createLogouts({ database, platform, signingKeys, tenants }),
      client: createReceiverClient({ allowPrivate: config.openid.allow_private_logout_targets }),
    };
    const webhooks = createWebhookDelivery({ ...means, signingKeys, client, logouts, standing });
    cleanups.push(() => webhooks.stop(config.server.shutdown_timeout * 1_000));
    const { kinds, close } = createJobKinds({ ...means, rates, webhooks });
    cleanups.push(async () => close());
    const queue = createJobs({ ...means, kinds, standing });
    cleanups.push(() => queue.stop());
    // Generating a first key takes a while, so the jobs start concurrently.
    await Promise.all([signingKeys.of(tenant).loaded, queue.start({ worker })]);
    if (!owner) await warnOfMissingReceivers(means, log);
    const purge = async (ending = standing.outgrown) =>
      (await purgeExpired(database, config, ending)) +
      (await deleteAbandonedDeliveries(database, ending)) +
      (await endExpiredSessions({ ...means, webhooks }, ending));
    if (worker) {
      webhooks.start();
      const stopPurging = startPurging(purge, log);
      cleanups.push(stopPurging);
      const stopWorking = () =>
        Promise.all([
          queue.stopWorkers(),
          webhooks.stop(config.server.shutdown_timeout * 1_000),
          stopPurging(),
        ]).then(
          () => log.info("jobs, deliveries and purges have ended"),
          (error: unknown) => log.error({ err: error }, "ending jobs and deliveries failed"),
        );
      // What this version does not know, it must not work on; requests are answered 503 until the process ends.
      standing.outgrown.addEventListener("abort", stopWorking);
    }

    const recorder = createRecorder(means);
    cleanups.push(() => recorder.stop());
    const runtime: BootedRuntime = {
      ...means,
      replicas,
      readiness: createReadiness(database, instanceId, standing),
      standing,
      signingKeys,
      passwordHasher: createPasswordHasher(config.password, undefined, hashesAtOnce(owner?.workers ?? 1)),
      authenticatorMetadata,
      locations,
      rates,
      refusals: createRefusals(),
      rememberedFlows: createRememberedFlows(),
      stepObservers: [recorder.observe, countSteps(counters), measureSteps],
      recorder,
      telemetry,
      openid: createOpenidProviders({ ...means, signingKeys, webhooks, rates, documents }),
      turns: createTurns(config.rate_limiter),
      admission: createTurns({ enabled: true }),
      jobs: owner ? wakingAt(owner, queue) : queue,
      webhooks: owner ? { ...webhooks, wake: () => owner.wake("deliveries") } : webhooks,
      purgeExpired: () => purge(),
      instanceId,
      ...(closing ? { closing } : {}),
      ...(owner ? { tellOthers: owner.tellOthers } : {}),
      embedded,
      databaseUrl,
      collectMetrics: async () => (await telemetry?.collect?.()) ?? [],
      heed(notice) {
        if (notice.kind === "tenants") registry.forget();
        else endWaitsFor(runtime, notice.tenantId, notice.id);
      },
      stop,
    };
    const endAnswers = answerForProcess({ ...runtime, jobNames: owner ? null : Object.keys(kinds) });
    cleanups.push(async () => endAnswers());
    if (!owner) await recordRelease(database.write.$client, release);
    return runtime;
  } catch (error) {
    await stop();
    throw asReadOnly(error);
  }
}

/** An output that is several ones; null for none. */
function toAll(outputs: readonly (AuditOutput | null)[]): AuditOutput | null {
  const own = outputs.filter((output) => output !== null);
  if (own.length === 0) return null;
  return (entry) => {
    for (const output of own) output(entry);
  };
}

/** A queue whose jobs the owner of the server runs. */
function wakingAt(owner: OwnerLink, queue: Jobs<Job>): Jobs<Job> {
  return {
    ...queue,
    wake(jobs) {
      for (const { name } of jobs) owner.wake(name);
    },
  };
}

/** A registry of tenants whose changes the other processes of the server see at once. */
function tellingOthers(registry: Tenants, owner: OwnerLink): Tenants {
  return {
    ...registry,
    forget() {
      registry.forget();
      owner.tellOthers({ kind: "tenants" });
    },
  };
}

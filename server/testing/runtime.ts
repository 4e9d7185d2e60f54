import { randomBytes, randomUUID } from "node:crypto";
import { pino } from "pino";
import { writeOf } from "#db/write";
import type { PushJob } from "../authenticator/push-job.ts";
import { loadConfig } from "../config/load.ts";
import type { Config } from "../config/schema.ts";
import type { Client } from "../context/client.ts";
import { purgeExpired } from "../database/purge.ts";
import { createReadiness } from "../database/readiness.ts";
import { thisRelease } from "../database/releases.ts";
import { createReplicas } from "../database/replicas.ts";
import { createStanding } from "../database/standing.ts";
import { countSteps } from "../flow/count-steps.ts";
import { createRememberedFlows } from "../flow/remembered-flows.ts";
import { createCounters } from "../funnel/counters.ts";
import { createTenantSigningKeys } from "../keys/tenant-signing-keys.ts";
import { createVault } from "../keys/vault.ts";
import { countLimits } from "../limits/count-limits.ts";
import { createRateLimits } from "../limits/rate-limits.ts";
import { createRefusals } from "../limits/refusals.ts";
import { createTurns } from "../limits/turns.ts";
import type { MailJob } from "../mail/mail-job.ts";
import { createPasswordHasher } from "../methods/password/password-hasher.ts";
import { createDocumentClient } from "../openid/document-client.ts";
import { createOpenidProviders } from "../openid/providers.ts";
import { createRecorder } from "../recorder/recorder.ts";
import type { Job, Runtime } from "../runtime.ts";
import { endExpiredSessions } from "../sessions/expired-sessions.ts";
import type { SmsJob } from "../sms/sms-job.ts";
import { createTenants } from "../tenants/tenants.ts";
import { deleteAbandonedDeliveries } from "../webhooks/abandoned-deliveries.ts";
import { testDatabase } from "./postgres.ts";

/** A runtime with its own database, whose clock can be moved, and which records jobs instead of running them. */
export interface TestRuntime extends Runtime {
  /** Mails of committed and of rolled back steps, oldest first. */
  enqueued: MailJob[];
  /** Push notifications of committed and of rolled back steps, oldest first. */
  pushed: PushJob[];
  /** SMS of committed and of rolled back steps, oldest first. */
  texted: SmsJob[];
  /** Lines of the audit log on the console; none by default. */
  audited: string[];
  /** Moves the clock of the platform forward. */
  advanceClock(seconds: number): void;
  /** The same runtime with another configuration. */
  configured(settings: Record<string, string>): TestRuntime;
  close(): Promise<void>;
}

/** Makes a test runtime; `settings` are environment variables. Rates are unlimited unless the settings say so. */
export async function testRuntime(settings: Record<string, string> = {}): Promise<TestRuntime> {
  const { database, close } = await testDatabase();
  const vault = createVault(["a key for tests alone"]);
  const log = pino({ level: "silent" });
  const enqueued: MailJob[] = [];
  const pushed: PushJob[] = [];
  const texted: SmsJob[] = [];
  const keep = (job: Job) => {
    if ("mail" in job) enqueued.push(job);
    else if ("sms" in job) texted.push(job);
    else if (job.name === "push_authenticator_request") pushed.push(job);
  };
  const audited: string[] = [];
  let shift = 0;
  const instanceId = randomUUID();
  const standing = createStanding(thisRelease(), log);
  const platform = { randomBytes, uuid: randomUUID, clockShift: () => shift };

  const counters = createCounters({ database, standing, log });

  const make = (variables: Record<string, string>): TestRuntime => {
    const config: Config = loadConfig(
      {
        STILE_RATE_LIMITER_ENABLED: "false",
        // RSA keys take long to generate.
        STILE_SESSION_ALGORITHM: "ES256",
        ...variables,
      },
      "/nowhere",
    );
    const tenant = { id: config.tenant.id, config };
    const recorder = createRecorder({ database, platform, log });
    const rates = createRateLimits(config, database, countLimits(counters, platform));
    const made: TestRuntime = {
      config,
      tenant,
      tenants: createTenants({ defaultTenant: tenant, database, vault, log }),
      platform,
      database,
      replicas: createReplicas([], {
        database,
        size: 1,
        maxLagSeconds: 1,
        processId: instanceId,
        lease: { renew: async () => {} },
        log,
      }),
      readiness: createReadiness(database, instanceId, standing),
      standing,
      log,
      auditOutput: config.audit_log.console_output.enabled
        ? (entry) => audited.push(JSON.stringify(entry))
        : null,
      vault,
      signingKeys: createTenantSigningKeys({ database, vault, platform, log }),
      // The smallest memory of argon2, for speed; the tests of the hasher cover the cost.
      passwordHasher: createPasswordHasher({
        ...config.password,
        hash: { ...config.password.hash, memory: 8 },
      }),
      authenticatorMetadata: null,
      locations: null,
      rates,
      counters,
      refusals: createRefusals(),
      rememberedFlows: createRememberedFlows(),
      stepObservers: [recorder.observe, countSteps(counters)],
      recorder,
      telemetry: null,
      openid: createOpenidProviders({
        database,
        vault,
        platform,
        log,
        signingKeys: createTenantSigningKeys({ database, vault, platform, log }),
        webhooks: { wake() {} },
        rates,
        documents: createDocumentClient({ allowPrivate: true }),
      }),
      turns: createTurns(config.rate_limiter),
      admission: createTurns({ enabled: true }),
      jobs: {
        enqueue: async (_, job) => keep(job),
        insertion: async (job) => {
          keep(job);
          return writeOf({ name: `kept_${job.name}`, text: "", values: [] });
        },
        wake() {},
        isWoken: () => false,
        runDue: async () => 0,
        waiting: async () => ({ counts: {}, more: false }),
      },
      webhooks: { wake() {}, isWoken: () => false, runDue: async () => 0 },
      purgeExpired: async () =>
        (await purgeExpired(database, config)) +
        (await deleteAbandonedDeliveries(database)) +
        (await endExpiredSessions(made)),
      instanceId,
      enqueued,
      pushed,
      texted,
      audited,
      advanceClock(seconds) {
        shift += seconds * 1000;
      },
      configured: (more) => make({ ...variables, ...more }),
      close,
    };
    return made;
  };
  return make(settings);
}

/** The client context of tests. */
export const testClient: Client = {
  ip: "192.0.2.1",
  source: "192.0.2.1",
  userAgent: "Test/1.0",
  language: "en",
  requestId: "test",
  origin: null,
  deviceCookie: null,
  markCookie: null,
  embedding: "client",
};

import type { Databases } from "#db/client";
import type { ResealJob } from "./admin/reseal-job.ts";
import type { AuditOutputs } from "./audit/audit-output.ts";
import type { AuthenticatorJob } from "./authenticator/push-job.ts";
import type { Configured } from "./config/schema.ts";
import type { Tenant } from "./config/tenant.ts";
import type * as context from "./context/context.ts";
import type { Readiness } from "./database/readiness.ts";
import type { Replicated } from "./database/replicas.ts";
import type { Standing } from "./database/standing.ts";
import type { StepObservers } from "./flow/observed-step.ts";
import type { RememberedFlows } from "./flow/remembered-flows.ts";
import type { Counts } from "./funnel/counters.ts";
import type { Jobs } from "./jobs/jobs.ts";
import type { Signing } from "./keys/tenant-signing-keys.ts";
import type { Sealing } from "./keys/vault.ts";
import type { OnPlatform } from "./lib/platform.ts";
import type { Rates } from "./limits/rate-limits.ts";
import type { Refusals } from "./limits/refusals.ts";
import type { Turns } from "./limits/turns.ts";
import type { Places } from "./locations/location.ts";
import type { PasswordHashing } from "./methods/password/password-hasher.ts";
import type { ImportJob } from "./moving/import-job.ts";
import type { Logs } from "./observability/logger.ts";
import type { OpenidAnswers } from "./openid/providers.ts";
import type { SmsJob } from "./sms/sms-job.ts";
import type { Tenants } from "./tenants/tenants.ts";
import type { AuthenticatorModels } from "./webauthn/authenticator-metadata.ts";
import type { WebhookDelivery } from "./webhooks/webhook-delivery.ts";

/** Work that commits with a change and is done after it. `server/start/job-kinds.ts` says how each is done. */
export type Job = AuthenticatorJob | SmsJob | ImportJob | ResealJob;

/** What a process tells the others of its server at once. They would find it in the database a little later. */
export type Notice =
  /** Tenants were changed. */
  | { kind: "tenants" }
  /** An authenticator request was answered. */
  | { kind: "answered"; tenantId: string; id: string };

/**
 * Everything that lives as long as the process; made once by `server/start/boot.ts` and handed down. Rooms below the engine
 * take the narrow interfaces of which it consists.
 */
export interface Runtime
  extends Configured,
    OnPlatform,
    Databases,
    Replicated,
    Logs,
    AuditOutputs,
    Sealing,
    Signing,
    PasswordHashing,
    AuthenticatorModels,
    Places,
    OpenidAnswers,
    Rates,
    Counts,
    StepObservers {
  /** The default tenant. */
  tenant: Tenant;
  /** All other tenants, by id or host name. */
  tenants: Tenants;
  /** Whether a write succeeds now. */
  readiness: Readiness;
  /** Whether this version may use the database, or a later release has outgrown it. */
  standing: Standing;
  /** Clients that go on although their budget of steps is used up. */
  refusals: Refusals;
  /** What this process knows of flows before it claims them. */
  rememberedFlows: RememberedFlows;
  /** Turns of accounts and sources. */
  turns: Turns;
  /** Turns of requests whose first statement waits for a connection. */
  admission: Turns;
  jobs: Pick<Jobs<Job>, "enqueue" | "insertion" | "wake" | "isWoken" | "runDue" | "waiting">;
  /** Delivers committed events to webhooks. */
  webhooks: Pick<WebhookDelivery, "wake" | "isWoken" | "runDue">;
  /** Writes the steps of flows that were answered, in bunches. */
  recorder: { isWaiting(): boolean; flush(): Promise<void> };
  /** Sends traces and metrics that wait; null where none are sent. */
  telemetry: { flush(): Promise<void> } | null;
  /**
   * Deletes expired rows of all tenants.
   *
   * @returns the number of deleted rows
   */
  purgeExpired(): Promise<number>;
  /** Tells the other processes of this server. Absent where one process does everything. */
  tellOthers?(notice: Notice): void;
  /** Id of this process in the table of instances. */
  instanceId: string;
  /**
   * Aborts when this process begins to stop, so that open streams end too. Absent on platforms that end processes
   * themselves.
   */
  closing?: AbortSignal;
}

/** The contexts of work by all that a process has. Rooms below the engine name what they take of it. */
export type ClientContext = context.ClientContext<Runtime>;
export type RequestContext = context.RequestContext<Runtime>;

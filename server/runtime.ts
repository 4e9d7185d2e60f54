import type { Logger } from "pino";
import type { Database } from "#db/client";
import type { AuditOutput } from "./audit/audit-output.ts";
import type { PushJob } from "./authenticator/push-job.ts";
import type { Config } from "./config/schema.ts";
import type { Tenant } from "./config/tenant.ts";
import type { Client } from "./context/client.ts";
import type { Readiness } from "./database/readiness.ts";
import type { Standing } from "./database/standing.ts";
import type { ObservedStep } from "./flow/observed-step.ts";
import type { Jobs } from "./jobs/jobs.ts";
import type { TenantSigningKeys } from "./keys/tenant-signing-keys.ts";
import type { Vault } from "./keys/vault.ts";
import type { Platform } from "./lib/platform.ts";
import type { RateLimits } from "./limits/rate-limits.ts";
import type { Refusals } from "./limits/refusals.ts";
import type { Turns } from "./limits/turns.ts";
import type { Locations } from "./locations/location.ts";
import type { MailJob } from "./mail/mail-job.ts";
import type { PasswordHasher } from "./methods/password/password-hasher.ts";
import type { Session } from "./objects/session.ts";
import type { Tenants } from "./tenants/tenants.ts";
import type { AuthenticatorMetadata } from "./webauthn/authenticator-metadata.ts";
import type { WebhookDelivery } from "./webhooks/webhook-delivery.ts";

/** Work that commits with a change and is done after it. `server/start/job-kinds.ts` says how each is done. */
export type Job = MailJob | PushJob;

/** What a process tells the others of its server at once. They would find it in the database a little later. */
export type Notice =
  /** Tenants were changed. */
  | { kind: "tenants" }
  /** An authenticator request was answered. */
  | { kind: "answered"; tenantId: string; id: string };

/** Everything that lives as long as the process; made once by `server/start/boot.ts` and handed down. */
export interface Runtime {
  config: Config;
  /** The default tenant. */
  tenant: Tenant;
  /** All other tenants, by id or host name. */
  tenants: Tenants;
  platform: Platform;
  database: Database;
  /** Whether a write succeeds now. */
  readiness: Readiness;
  /** Whether this version may use the database, or a later release has outgrown it. */
  standing: Standing;
  log: Logger;
  /** Where entries of the audit log are written besides the database; null if `audit_log.console_output` is off. */
  auditOutput: AuditOutput | null;
  vault: Vault;
  signingKeys: TenantSigningKeys;
  passwordHasher: PasswordHasher;
  /** The list of authenticator models of `webauthn.metadata_file`; null without one. */
  authenticatorMetadata: AuthenticatorMetadata | null;
  /** The places of IP addresses of `authenticator.location_file`; null without one. */
  locations: Locations | null;
  rates: RateLimits;
  /** Clients that go on although their budget of steps is used up. */
  refusals: Refusals;
  /** Turns of accounts and sources. */
  turns: Turns;
  /** Turns of requests whose first statement waits for a connection. */
  admission: Turns;
  jobs: Pick<Jobs<Job>, "enqueue" | "insertion" | "wake" | "runDue">;
  /** Delivers committed events to webhooks. */
  webhooks: Pick<WebhookDelivery, "wake" | "runDue">;
  /**
   * Deletes expired rows of all tenants.
   *
   * @returns the number of deleted rows
   */
  purgeExpired(): Promise<number>;
  /** Tells the other processes of this server. Absent where one process does everything. */
  tellOthers?(notice: Notice): void;
  /** Told of every step that was written. Only tests set it. */
  observeStep?(step: ObservedStep): void;
  /** Id of this process in the table of instances. */
  instanceId: string;
  /**
   * Aborts when this process begins to stop, so that open streams end too. Absent on platforms that end processes
   * themselves.
   */
  closing?: AbortSignal;
}

/** A tenant, and the process that serves it. */
export interface TenantContext {
  runtime: Runtime;
  tenant: Tenant;
}

/** A client that acts on a tenant at a moment. */
export interface ClientContext extends TenantContext {
  client: Client;
  /** Time of the request, by the database's clock. */
  now: Date;
}

/** Context of one request while it is judged. Nothing here writes. */
export interface RequestContext extends ClientContext {
  signal: AbortSignal;
  /** The flow whose step it is; absent outside flows. */
  flowId?: string;
  /** Whether the tenant had stored webhooks when the flow was read; absent outside flows. */
  isHeard?: boolean;
  /** The session presented with the request; read by profile flows only. */
  session?: Session;
}

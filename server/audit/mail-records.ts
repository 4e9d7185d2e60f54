import type { Logger } from "pino";
import { runTogether } from "#db/together";
import type { WriteOfParts } from "#db/write";
import type { Tenant } from "../config/tenant.ts";
import { describeFailure, summaryOf } from "../jobs/failure.ts";
import type { JobCause } from "../jobs/job-cause.ts";
import type { Attempt, GivenUp } from "../jobs/job-kind.ts";
import type { MailJob } from "../mail/mail-job.ts";
import { mailServerOf, outageBegins, outageEnds } from "../mail/mail-outages.ts";
import type { Runtime } from "../runtime.ts";
import { type AuditDetails, audit } from "./audit.ts";
import { maskedIdentifier } from "./identifier.ts";

/** A mail as its audit entries name it. */
interface RecordedMail {
  tenantId: string;
  mail: string;
  /** Canonical address. */
  to: string;
}

/** Records what becomes of mails: in the audit log, and whether their mail server takes them. */
export interface MailRecords {
  /** The entry of the change that causes a mail, or causes none where one could be expected. */
  queued(job: MailJob, cause: JobCause): WriteOfParts;
  /** Writes that a mail was accepted. The mail is sent, so a failure to record it is logged and not thrown. */
  accepted(mail: RecordedMail, tenant: Tenant, answer: string, attempt: Attempt): Promise<void>;
  /** Writes that an attempt failed in a way that concerns the mail server. Never throws. */
  failing(tenant: Tenant, error: unknown, attempt: Attempt): Promise<void>;
  /** The entry that a mail is not sent. */
  givenUp(mail: RecordedMail, end: GivenUp): WriteOfParts;
}

/** The parts of a runtime that record mails; `tenant`: the default tenant, whose settings of the log are those of all tenants. */
type RecordingRuntime = Pick<Runtime, "database" | "vault" | "platform" | "auditOutput"> & { tenant: Tenant };

export function mailRecords(runtime: RecordingRuntime, log: Pick<Logger, "warn" | "info">): MailRecords {
  const { vault, database, tenant: defaultTenant } = runtime;
  const logOf = (tenantId: string) => ({ id: tenantId, config: defaultTenant.config });

  const named = (tenantId: string, mail: string, recipient: string): AuditDetails => {
    const { identifier, identifier_digest } = maskedIdentifier(vault, tenantId, recipient);
    return { mail, recipient: identifier, identifier_digest };
  };

  /** An entry that a worker writes, for the request that caused the mail. */
  function entryOfWorker(
    type: "mail_accepted" | "mail_failed",
    { tenantId, mail, to }: RecordedMail,
    { cause, now }: Pick<Attempt, "cause" | "now">,
    details: AuditDetails,
  ): WriteOfParts {
    const client = { ip: null, userAgent: "", requestId: cause.request_id ?? null };
    const context = { runtime, tenant: logOf(tenantId), client, now: now() };
    return audit(context, type, { ...named(tenantId, mail, to), ...details }, cause.user ?? null);
  }

  /** Writes in one round trip; what fails is logged. */
  async function record(writes: readonly WriteOfParts[]): Promise<Record<string, unknown>> {
    try {
      const parts = writes.flatMap((write) => write.parts);
      const returned = await runTogether<Record<string, unknown>>(database, parts);
      for (const { committed } of writes) committed?.(returned);
      return returned;
    } catch (error) {
      log.warn({ failure: describeFailure(error) }, "recording what became of a mail failed");
      return {};
    }
  }

  return {
    queued({ tenantId, to, mail, withheld }, { client, now, flowId, userId }) {
      const context = { runtime, tenant: logOf(tenantId), client, now };
      const flow = flowId === undefined ? {} : { flow: flowId };
      const details = { ...named(tenantId, mail.type, to ?? withheld?.identifier ?? ""), ...flow };
      return to === null
        ? audit(context, "mail_withheld", { ...details, reason: withheld?.reason ?? null }, userId ?? null)
        : audit(context, "mail_queued", details, userId ?? null);
    },

    async accepted(mail, tenant, answer, attempt) {
      const entry = entryOfWorker("mail_accepted", mail, attempt, { answer, attempts: attempt.number });
      const server = mailServerOf(tenant, defaultTenant);
      const { outage_ended: since } = await record([entry, outageEnds(server)]);
      if (since) log.info({ mail_server_of: server, failing_since: since }, "mails are accepted again");
    },

    async failing(tenant, error, { now }) {
      const failure = summaryOf(describeFailure(error));
      await record([outageBegins({ server: mailServerOf(tenant, defaultTenant), failure, at: now() })]);
    },

    givenUp(mail, { reason, attempts, lastFailure, ...of }) {
      const last = lastFailure === undefined ? {} : { last_failure: lastFailure };
      return entryOfWorker("mail_failed", mail, of, { reason, attempts, ...last });
    },
  };
}

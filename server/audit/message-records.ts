import type { Logger } from "pino";
import type { Databases } from "#db/client";
import { runTogether } from "#db/together";
import type { WriteOfParts } from "#db/write";
import type { Tenant } from "../config/tenant.ts";
import { describeFailure, summaryOf } from "../jobs/failure.ts";
import { type Attempt, EXPIRED } from "../jobs/job-kind.ts";
import type { Sealing, Vault } from "../keys/vault.ts";
import type { OnPlatform } from "../lib/platform.ts";
import { mailServerOf, outageBegins, outageEnds } from "../mail/mail-outages.ts";
import type { MailRecords, RecordedMail } from "../mail/mail-outcome.ts";
import { type AuditDetails, audit, type FailureDetails } from "./audit.ts";
import type { AuditOutputs } from "./audit-output.ts";
import { maskedIdentifier } from "./identifier.ts";

/** A mail and its recipient as entries of the audit log name them: masked, and searchable by a digest. */
export function mailFacts(vault: Pick<Vault, "mac">, tenantId: string, mail: string, recipient: string) {
  const { identifier, identifier_digest } = maskedIdentifier(vault, tenantId, recipient);
  return { mail, recipient: identifier, identifier_digest } satisfies AuditDetails;
}

/** The parts of a runtime that record mails; `tenant`: the default tenant, whose settings of the log are those of all tenants. */
type RecordingRuntime = Databases & Sealing & OnPlatform & AuditOutputs & { tenant: Tenant };

/** Makes the records of mails: audit entries, and the outages of mail servers. */
export function mailRecords(runtime: RecordingRuntime, log: Pick<Logger, "warn" | "info">): MailRecords {
  const { vault, database, tenant: defaultTenant } = runtime;
  const logOf = (tenantId: string) => ({ id: tenantId, config: defaultTenant.config });

  const named = (tenantId: string, mail: string, recipient: string) =>
    mailFacts(vault, tenantId, mail, recipient);

  /** What a worker writes an entry with: the request that caused the mail. */
  function worker(tenantId: string, { cause, now }: Pick<Attempt, "cause" | "now">) {
    const client = { ip: null, userAgent: "", requestId: cause.request_id ?? null };
    return { runtime, tenant: logOf(tenantId), client, now: now() };
  }

  function failed(
    { tenantId, mail, to }: RecordedMail,
    of: Pick<Attempt, "cause" | "now">,
    details: FailureDetails<"mail_failed">,
  ): WriteOfParts {
    const facts = { ...named(tenantId, mail, to), ...details };
    return audit(worker(tenantId, of), "mail_failed", facts, of.cause.user ?? null);
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
      const reason = withheld?.reason ?? "no_address";
      return to === null
        ? audit(context, "mail_withheld", { ...details, reason }, userId ?? null)
        : audit(context, "mail_queued", details, userId ?? null);
    },

    async accepted(mail, tenant, answer, attempt) {
      const details = { ...named(mail.tenantId, mail.mail, mail.to), answer, attempts: attempt.number };
      const context = worker(mail.tenantId, attempt);
      const entry = audit(context, "mail_accepted", details, attempt.cause.user ?? null);
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
      const why =
        reason === EXPIRED
          ? ({ reason: "expired" } as const)
          : ({ reason: "rejected", detail: reason } as const);
      return failed(mail, of, { ...why, attempts, ...last });
    },

    tooMany: (mail, attempt) => failed(mail, attempt, { reason: "too_many_notices", attempts: 0 }),
  };
}

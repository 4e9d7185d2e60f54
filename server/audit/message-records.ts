import type { Logger } from "pino";
import type { Databases } from "#db/client";
import { runTogether } from "#db/together";
import type { WriteOfParts } from "#db/write";
import type { Tenant } from "../config/tenant.ts";
import { describeFailure, summaryOf } from "../jobs/failure.ts";
import { type Attempt, EXPIRED } from "../jobs/job-kind.ts";
import type { Sealing, Vault } from "../keys/vault.ts";
import type { OnPlatform } from "../lib/platform.ts";
import type { MailJob } from "../mail/mail-job.ts";
import type { MailRecords } from "../mail/mail-outcome.ts";
import { type ChannelName, outageBegins, outageEnds, serverOf } from "../messages/outages.ts";
import type { MessageRecords, RecordedMessage } from "../messages/outcome.ts";
import type { SmsJob } from "../sms/sms-job.ts";
import { type AuditDetails, audit, type FailureDetails } from "./audit.ts";
import type { AuditOutputs } from "./audit-output.ts";
import { maskedIdentifier } from "./identifier.ts";

/**
 * A message and its recipient as entries of the audit log name them: masked, and searchable by a digest.
 *
 * @param type what the message is for, such as `login`
 */
export function messageFacts(
  vault: Pick<Vault, "mac">,
  tenantId: string,
  channel: ChannelName,
  type: string,
  recipient: string,
) {
  const { identifier, identifier_digest } = maskedIdentifier(vault, tenantId, recipient);
  return { [channel]: type, recipient: identifier, identifier_digest } satisfies AuditDetails;
}

/** The parts of a runtime that record messages; `tenant`: the default tenant, whose settings of the log are those of all tenants. */
type RecordingRuntime = Databases & Sealing & OnPlatform & AuditOutputs & { tenant: Tenant };

type Log = Pick<Logger, "warn" | "info">;

/** The messages of a channel in lines of the log. */
const called: Record<ChannelName, { one: string; many: string }> = {
  mail: { one: "a mail", many: "mails" },
  sms: { one: "an SMS", many: "SMS" },
};

/** Makes the records of mails. */
export function mailRecords(runtime: RecordingRuntime, log: Log): MailRecords {
  const { records, failed } = messageRecords(runtime, "mail", log);
  return {
    ...records,
    tooMany: (mail, attempt) => failed(mail, attempt, { reason: "too_many_notices", attempts: 0 }),
  };
}

/** Makes the records of SMS. */
export function smsRecords(runtime: RecordingRuntime, log: Log): MessageRecords<SmsJob> {
  return messageRecords(runtime, "sms", log).records;
}

/** Makes the records of the messages of a channel: audit entries, and the outages of its servers. */
function messageRecords(runtime: RecordingRuntime, channel: ChannelName, log: Log) {
  const { vault, database, tenant: defaultTenant } = runtime;
  const logOf = (tenantId: string) => ({ id: tenantId, config: defaultTenant.config });
  const server = (tenant: Tenant) => serverOf(channel, tenant, defaultTenant);

  const named = (tenantId: string, type: string, recipient: string) =>
    messageFacts(vault, tenantId, channel, type, recipient);

  /** What a worker writes an entry with: the request that caused the mail. */
  function worker(tenantId: string, { cause, now }: Pick<Attempt, "cause" | "now">) {
    const client = { ip: null, userAgent: "", requestId: cause.request_id ?? null };
    return { runtime, tenant: logOf(tenantId), client, now: now() };
  }

  function failed(
    { tenantId, type, to }: RecordedMessage,
    of: Pick<Attempt, "cause" | "now">,
    details: FailureDetails<"mail_failed">,
  ): WriteOfParts {
    const facts = { ...named(tenantId, type, to), ...details };
    return audit(worker(tenantId, of), `${channel}_failed`, facts, of.cause.user ?? null);
  }

  /** Writes in one round trip; what fails is logged. */
  async function record(writes: readonly WriteOfParts[]): Promise<Record<string, unknown>> {
    try {
      const parts = writes.flatMap((write) => write.parts);
      const returned = await runTogether<Record<string, unknown>>(database, parts);
      for (const { committed } of writes) committed?.(returned);
      return returned;
    } catch (error) {
      log.warn({ failure: describeFailure(error) }, `recording what became of ${called[channel].one} failed`);
      return {};
    }
  }

  const records: MessageRecords<MailJob | SmsJob> = {
    queued(job, { client, now, flowId, userId }) {
      const { tenantId, to, withheld } = job;
      const { type } = "mail" in job ? job.mail : job.sms;
      const context = { runtime, tenant: logOf(tenantId), client, now };
      const flow = flowId === undefined ? {} : { flow: flowId };
      const details = { ...named(tenantId, type, to ?? withheld?.identifier ?? ""), ...flow };
      const reason = withheld?.reason ?? "no_address";
      return to === null
        ? audit(context, `${channel}_withheld`, { ...details, reason }, userId ?? null)
        : audit(context, `${channel}_queued`, details, userId ?? null);
    },

    async accepted({ tenantId, type, to }, tenant, answer, attempt) {
      const details = { ...named(tenantId, type, to), answer, attempts: attempt.number };
      const entry = audit(
        worker(tenantId, attempt),
        `${channel}_accepted`,
        details,
        attempt.cause.user ?? null,
      );
      const { [`${channel}_outage_ended`]: since } = await record([
        entry,
        outageEnds(channel, server(tenant)),
      ]);
      if (since)
        log.info(
          { [`${channel}_server_of`]: server(tenant), failing_since: since },
          `${called[channel].many} are accepted again`,
        );
    },

    async failing(tenant, error, { now }) {
      const failure = summaryOf(describeFailure(error));
      await record([outageBegins(channel, { server: server(tenant), failure, at: now() })]);
    },

    givenUp(message, { reason, attempts, lastFailure, ...of }) {
      const last = lastFailure === undefined ? {} : { last_failure: lastFailure };
      const why =
        reason === EXPIRED
          ? ({ reason: "expired" } as const)
          : ({ reason: "rejected", detail: reason } as const);
      return failed(message, of, { ...why, attempts, ...last });
    },
  };
  return { records, failed };
}

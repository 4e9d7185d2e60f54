import type { Logger } from "pino";
import type { Databases } from "#db/client";
import { commit } from "#db/commit";
import type { WriteOfParts } from "#db/write";
import type { Tenant } from "../config/tenant.ts";
import { describeFailure, summaryOf } from "../jobs/failure.ts";
import { type Attempt, EXPIRED } from "../jobs/job-kind.ts";
import type { Sealing, Vault } from "../keys/vault.ts";
import type { OnPlatform } from "../lib/platform.ts";
import { type ChannelName, channels } from "../messages/channels.ts";
import { outageBegins, outageEnds, serverOf } from "../messages/outages.ts";
import type { MessageRecords, RecordedMessage } from "../messages/outcome.ts";
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

/** Makes the records of the messages of a channel: audit entries, and the outages of its servers. */
export function messageRecords<Name extends ChannelName>(
  runtime: RecordingRuntime,
  channel: Name,
  log: Log,
): MessageRecords<Name> {
  const { called } = channels[channel];
  const typeOf = <Outcome extends "accepted" | "failed" | "queued" | "withheld">(outcome: Outcome) =>
    `${channel as ChannelName}_${outcome}` as const;
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
    return audit(worker(tenantId, of), typeOf("failed"), facts, of.cause.user ?? null);
  }

  return {
    queued({ tenantId, to, withheld, [channel]: content }, { client, now, flowId, userId }) {
      const { type } = content;
      const context = { runtime, tenant: logOf(tenantId), client, now };
      const flow = flowId === undefined ? {} : { flow: flowId };
      const details = { ...named(tenantId, type, to ?? withheld?.identifier ?? ""), ...flow };
      const reason = withheld?.reason ?? "no_address";
      return to === null
        ? audit(context, typeOf("withheld"), { ...details, reason }, userId ?? null)
        : audit(context, typeOf("queued"), details, userId ?? null);
    },

    accepted({ tenantId, type, to }, tenant, answer, attempt) {
      const details = { ...named(tenantId, type, to), answer, attempts: attempt.number };
      const ended = (since: string) =>
        log.info(
          { [`${channel}_server_of`]: server(tenant), failing_since: since },
          `${called.many} are accepted again`,
        );
      return [
        audit(worker(tenantId, attempt), typeOf("accepted"), details, attempt.cause.user ?? null),
        outageEnds(channel, server(tenant), ended),
      ];
    },

    async failing(tenant, cause, { now }) {
      const failure = summaryOf(describeFailure(cause));
      try {
        await commit(database, [outageBegins(channel, { server: server(tenant), failure, at: now() })]);
      } catch (error) {
        log.warn({ failure: describeFailure(error) }, `recording that ${called.one} was not taken failed`);
      }
    },

    givenUp(message, { reason, attempts, lastFailure, ...of }) {
      const last = lastFailure === undefined ? {} : { last_failure: lastFailure };
      const why =
        reason === EXPIRED
          ? ({ reason: "expired" } as const)
          : ({ reason: "rejected", detail: reason } as const);
      return failed(message, of, { ...why, attempts, ...last });
    },

    tooMany: (message, attempt) => failed(message, attempt, { reason: "too_many_notices", attempts: 0 }),
  };
}

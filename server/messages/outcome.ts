import type { WriteOfParts } from "#db/write";
import type { Tenant } from "../config/tenant.ts";
import type { JobCause } from "../jobs/job-cause.ts";
import type { Attempt, GivenUp } from "../jobs/job-kind.ts";
import type { ChannelName } from "./channels.ts";
import type { MessageContent, MessageJob } from "./message.ts";

/** What the sending of messages tells others: records of what became of one, and its event for webhooks. */

/** A message as its records name it. */
export interface RecordedMessage {
  tenantId: string;
  /** What it is for, for instance `login`. */
  type: string;
  /** Canonical address or number. */
  to: string;
}

/** Records what becomes of the messages of a channel, and whether their server takes them. */
export interface MessageRecords<Name extends ChannelName> {
  /** The record of the change that causes a message, or causes none where one could be expected. */
  queued(job: MessageJob<Name, string, MessageContent>, cause: JobCause): WriteOfParts;
  /** The records that a message was accepted. */
  accepted(
    message: RecordedMessage,
    tenant: Tenant,
    answer: string,
    attempt: Attempt,
  ): readonly WriteOfParts[];
  /** Writes that an attempt failed in a way that concerns the server. Never throws. */
  failing(tenant: Tenant, error: unknown, attempt: Attempt): Promise<void>;
  /** The record that a message is not sent. */
  givenUp(message: RecordedMessage, end: GivenUp): WriteOfParts;
  /** The record that a message is not sent, because its recipient has received too many. */
  tooMany(message: RecordedMessage, attempt: Attempt): WriteOfParts;
}

/**
 * Emits the event of a message, once for an id.
 *
 * @param message makes the message; not called if no webhook is subscribed
 * @param options `withoutWebhooks`: the tenant had no stored webhook when the message was caused, so that none is looked
 *   for
 * @returns whether a webhook is subscribed
 */
export type PublishMessage<Published> = (
  tenant: Tenant,
  id: string,
  message: () => Published,
  options: { withoutWebhooks: boolean },
) => Promise<boolean>;

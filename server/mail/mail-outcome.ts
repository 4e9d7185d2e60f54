import type { WriteOfParts } from "#db/write";
import type { Language } from "#words/language-tags";
import type { Tenant } from "../config/tenant.ts";
import type { JobCause } from "../jobs/job-cause.ts";
import type { Attempt, GivenUp } from "../jobs/job-kind.ts";
import type { MailContent, MailJob } from "./mail-job.ts";
import type { RenderedMail } from "./transport.ts";

/** What the sending of mails tells others: records of what became of a mail, and its event for webhooks. */

/** A mail as its records name it. */
export interface RecordedMail {
  tenantId: string;
  mail: string;
  /** Canonical address. */
  to: string;
}

/** Records what becomes of mails, and whether their mail server takes them. */
export interface MailRecords {
  /** The record of the change that causes a mail, or causes none where one could be expected. */
  queued(job: MailJob, cause: JobCause): WriteOfParts;
  /** Writes that a mail was accepted. The mail is sent, so a failure to record it is logged and not thrown. */
  accepted(mail: RecordedMail, tenant: Tenant, answer: string, attempt: Attempt): Promise<void>;
  /** Writes that an attempt failed in a way that concerns the mail server. Never throws. */
  failing(tenant: Tenant, error: unknown, attempt: Attempt): Promise<void>;
  /** The record that a mail is not sent. */
  givenUp(mail: RecordedMail, end: GivenUp): WriteOfParts;
  /** The record that a notice is not sent, because its recipient has received too many. */
  tooMany(mail: RecordedMail, attempt: Attempt): WriteOfParts;
}

/** A rendered mail for the webhooks that are subscribed to `email.send`. */
export interface PublishedMail {
  /** Canonical address. */
  to: string;
  /** The language asked for. */
  language: Language;
  content: MailContent;
  rendered: RenderedMail;
  /** Seconds since 1970 until which its code is valid, if it has one. */
  validUntil: number;
  /** Display name of the service. */
  service: string;
  /** Whether the service sends it too. */
  delivered: boolean;
}

/**
 * Emits `email.send`, once for an id.
 *
 * @param mail makes the mail; not called if no webhook is subscribed
 * @param options `withoutWebhooks`: the tenant had no stored webhook when the mail was caused, so that none is looked for
 * @returns whether a webhook is subscribed
 */
export type PublishMail = (
  tenant: Tenant,
  id: string,
  mail: () => PublishedMail,
  options: { withoutWebhooks: boolean },
) => Promise<boolean>;

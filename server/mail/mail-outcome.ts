import type { WriteOfParts } from "#db/write";
import type { Language } from "#words/language-tags";
import type { Attempt } from "../jobs/job-kind.ts";
import type { MessageRecords, RecordedMessage } from "../messages/outcome.ts";
import type { MailContent, MailJob } from "./mail-job.ts";
import type { RenderedMail } from "./transport.ts";

/** Records what becomes of mails, and whether their mail server takes them. */
export interface MailRecords extends MessageRecords<MailJob> {
  /** The record that a notice is not sent, because its recipient has received too many. */
  tooMany(mail: RecordedMessage, attempt: Attempt): WriteOfParts;
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

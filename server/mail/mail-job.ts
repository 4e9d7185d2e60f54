import type { Language } from "#words/language-tags";
import type { Withheld } from "../failures/messages.ts";
import type { MailQueue, NoticeMail, PasscodeMail, SecurityMail } from "./messages.ts";

/**
 * The content of a mail. The only visitor input in it is addresses of the account in canonical form, and the name of a
 * browser from a closed list, so a mail cannot be made to carry an attacker's text.
 */
export type MailContent =
  | {
      type: PasscodeMail;
      code: string;
      ttlSeconds: number;
      /** Address of the page that uses the code at the press of a button; absent without `email.links`. */
      link?: string;
    }
  | { type: NoticeMail }
  | SecurityMail;

/** A job that sends one mail. Its name is the queue of its message (`mailQueueOf`). */
export type MailJob = { [Name in MailQueue]: QueuedMail & { name: Name } }[MailQueue];

interface QueuedMail {
  tenantId: string;
  /**
   * Canonical address. null if there is no recipient: the job is enqueued all the same and does nothing, so that its
   * absence does not reveal that there is no account.
   */
  to: string | null;
  language: Language;
  mail: MailContent;
  /** Why there is no recipient, for the audit log alone; it is not stored with the job. */
  withheld?: Withheld;
  /** The tenant had no stored webhook when the mail was caused, so that its first attempt need not look for one. */
  withoutWebhooks?: boolean;
}

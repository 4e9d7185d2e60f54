import type { Language } from "#words/language-tags";
import type { Withheld } from "../failures/messages.ts";

/** What the code of an SMS is for. */
export const smsPurposes = ["sms_login", "sms_second_factor", "phone_verification"] as const;

export type SmsPurpose = (typeof smsPurposes)[number];

/** The content of an SMS. No visitor input is in it, so that it cannot be made to carry an attacker's text. */
export interface SmsContent {
  type: SmsPurpose;
  code: string;
  ttlSeconds: number;
  /** Host of the page that has the field for the code, for browsers that fill it in (WebOTP); null if unknown. */
  host: string | null;
}

/** A job that sends one SMS. */
export interface SmsJob {
  name: "send_sms";
  tenantId: string;
  /**
   * E.164. null if there is no recipient: the job is enqueued all the same and does nothing, so that its absence does not
   * reveal that there is no account.
   */
  to: string | null;
  language: Language;
  sms: SmsContent;
  /** Why there is no recipient, for the audit log alone; it is not stored with the job. */
  withheld?: Withheld;
  /** The tenant had no stored webhook when the SMS was caused, so that its first attempt need not look for one. */
  withoutWebhooks?: boolean;
}

import type { CodeContent, MessageJob } from "../messages/message.ts";

/** What the code of an SMS is for. */
export const smsPurposes = ["sms_login", "sms_second_factor", "phone_verification"] as const;

export type SmsPurpose = (typeof smsPurposes)[number];

/** The content of an SMS. No visitor input is in it, so that it cannot be made to carry an attacker's text. */
export interface SmsContent extends Omit<CodeContent, "link"> {
  type: SmsPurpose;
  /** Host of the page that has the field for the code, for browsers that fill it in (WebOTP); null if unknown. */
  host: string | null;
}

/** A job that sends one SMS. */
export type SmsJob = MessageJob<"sms", "send_sms", SmsContent>;

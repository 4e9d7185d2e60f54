import type { PublishedMessage } from "../messages/message.ts";
import type { SmsContent } from "../sms/sms-job.ts";
import type { EventData } from "./events.ts";

export type PublishedSms = PublishedMessage<SmsContent, string>;

/** Describes an SMS as the data of its `sms.send` event. They hold its code. */
export function smsEventData(sms: PublishedSms): EventData<"sms.send"> {
  const { to, language, content, rendered: text, validUntil, service, delivered } = sms;
  const { type, code, ttlSeconds, host } = content;
  return {
    type,
    to_phone_number: to,
    text,
    delivered,
    language,
    data: { service_name: service, otp_code: code, ttl: ttlSeconds, valid_until: validUntil, host },
  };
}

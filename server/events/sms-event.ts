import type { PublishedSms } from "../sms/send-sms.ts";
import type { EventData } from "./events.ts";

/** Describes an SMS as the data of its `sms.send` event. They hold its code. */
export function smsEventData(sms: PublishedSms): EventData<"sms.send"> {
  const { to, language, content, text, validUntil, service, delivered } = sms;
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

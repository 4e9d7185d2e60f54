import type { Database } from "#db/client";
import type { Config } from "../config/schema.ts";
import { createMailboxTransport } from "../mail/mailbox.ts";
import { missingTransport } from "../messages/transport.ts";
import { createHttpTransport } from "./http-transport.ts";
import type { SmsTransport } from "./transport.ts";

/** Whether the SMS of a tenant stay in the local mailbox: in development, without an account at a service. */
export function keepsSms({ mode, phone, sms_delivery }: Config): boolean {
  return mode === "development" && phone.enabled && sms_delivery.enabled && !sms_delivery.account_sid;
}

/** The transport of the configured service; in development without one, the local mailbox. */
export function createSmsTransport(config: Config, database: Database): SmsTransport {
  const { url, account_sid, auth_token, from, messaging_service_sid, timeout } = config.sms_delivery;
  if (account_sid !== undefined && auth_token !== undefined)
    return createHttpTransport({
      url,
      accountSid: account_sid,
      authToken: auth_token,
      sender:
        messaging_service_sid === undefined
          ? { From: from ?? "" }
          : { MessagingServiceSid: messaging_service_sid },
      timeoutMs: timeout * 1000,
    });
  if (config.mode === "development") {
    const mailbox = createMailboxTransport(database);
    return {
      send: ({ id, to, text }, signal) =>
        mailbox.send({ id, to, subject: "SMS", text, html: "", language: "en" }, signal),
    };
  }
  return missingTransport("NO_SMS_SERVICE", "sms_delivery.account_sid is missing: no SMS can be sent");
}

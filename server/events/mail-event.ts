import type { MailContent } from "../mail/mail-job.ts";
import type { RenderedMail } from "../mail/transport.ts";
import type { PublishedMessage } from "../messages/message.ts";
import type { EventData } from "./events.ts";

export type PublishedMail = PublishedMessage<MailContent, RenderedMail>;

/** Describes a mail as the data of its `email.send` event. Only that of a mail with a code holds a secret. */
export function mailEventData(mail: PublishedMail): EventData<"email.send"> {
  const { to, language, content, rendered, validUntil, service, delivered } = mail;
  const members = {
    subject: rendered.subject,
    body_plain: rendered.text,
    body: rendered.html,
    to_email_address: to,
    delivered_by_hanko: delivered,
    accept_language: language,
    language,
  };
  const service_name = service;
  if ("code" in content) {
    const { code, ttlSeconds, link } = content;
    const ofLink = link === undefined ? {} : { link };
    const data = { service_name, otp_code: code, ...ofLink, ttl: ttlSeconds, valid_until: validUntil };
    return { ...members, type: content.type, data };
  }
  switch (content.type) {
    case "email_login_attempted":
    case "email_registration_attempted":
      return { ...members, type: content.type, data: { service_name } };
    case "email_create":
    case "primary_email_update": {
      const old = content.previous === undefined ? {} : { old_email_address: content.previous };
      const data = { service_name, template: content.type, new_email_address: content.address, ...old };
      return { ...members, type: "security_notification", data };
    }
    case "email_delete": {
      const data = { service_name, template: content.type, deleted_email_address: content.address };
      return { ...members, type: "security_notification", data };
    }
    case "new_browser": {
      const { type: template, ...signIn } = content;
      return { ...members, type: "security_notification", data: { service_name, template, ...signIn } };
    }
    default: {
      const factor = "factor" in content ? { factor: content.factor } : {};
      const data = { service_name, template: content.type, ...factor };
      return { ...members, type: "security_notification", data };
    }
  }
}

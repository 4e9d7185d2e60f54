import type { MailContent } from "../mail/mail-job.ts";
import { messagesOf, type NoticeMail, type SecurityMail } from "../mail/messages.ts";
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
  if (isNotice(content)) return { ...members, type: content.type, data: { service_name } };
  const data = { service_name, template: content.type, ...changeDetails(content) };
  return { ...members, type: "security_notification", data };
}

const notices: readonly string[] = messagesOf("notice");

const isNotice = (content: { type: string }): content is { type: NoticeMail } =>
  notices.includes(content.type);

type ChangeData = Extract<EventData<"email.send">, { type: "security_notification" }>["data"];

function changeDetails(change: SecurityMail): Omit<ChangeData, "service_name" | "template"> {
  switch (change.type) {
    case "email_create":
    case "primary_email_update": {
      const old = change.previous === undefined ? {} : { old_email_address: change.previous };
      return { new_email_address: change.address, ...old };
    }
    case "email_delete":
      return { deleted_email_address: change.address };
    default: {
      const { type: _, ...details } = change;
      return details;
    }
  }
}

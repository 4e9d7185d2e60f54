import { mailPreviewPage } from "../../dev/mail-preview/page.ts";
import { mailboxPage } from "../../dev/mailbox/page.ts";
import { keepsSms } from "../../sms/create-transport.ts";
import { plainError } from "../answer/reply.ts";
import type { Handler } from "../table/handler-context.ts";

/** `GET /dev/mailbox`: sent mails, if no mail server is configured, and SMS, if no service is. */
export const mailboxHandler: Handler = ({ runtime, request, url, tenant }) => {
  if (tenant.config.smtp_url && !keepsSms(tenant.config))
    return plainError(404, "The mailbox is disabled: mail is sent by SMTP (SMTP_URL).");
  return mailboxPage(runtime, url, request.headers.get("accept"));
};

/** `GET /dev/mail`: every mail in every language. */
export const mailPreviewHandler: Handler = ({ runtime, url }) => mailPreviewPage(runtime, url);

import { mailPreviewPage } from "../../dev/mail-preview/page.ts";
import { mailboxPage } from "../../dev/mailbox/page.ts";
import { keepsSms } from "../../sms/create-transport.ts";
import { plainError } from "../answer/reply.ts";
import type { Handler } from "../table/handler-context.ts";

/** What the page asks for while it waits for a newer mail. */
const JSON_TYPE = "application/json";

/** `GET /dev/mailbox`: sent mails, if no mail server is configured, and SMS, if no service is. */
export const mailboxHandler: Handler = ({ runtime, request, url, tenant, accessFields }) => {
  if (tenant.config.smtp_url && !keepsSms(tenant.config))
    return plainError(404, "The mailbox is disabled: mail is sent by SMTP (SMTP_URL).");
  const accept = request.headers.get("accept");
  if (accept === JSON_TYPE) accessFields.isPoll = true;
  return mailboxPage(runtime, url, accept);
};

/** `GET /dev/mail`: every mail in every language. */
export const mailPreviewHandler: Handler = ({ runtime, url }) => mailPreviewPage(runtime, url);

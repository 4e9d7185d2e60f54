import { mailboxPage } from "../../dev/mailbox/page.ts";
import type { Handler } from "../handler-context.ts";
import { plainError } from "../reply.ts";

/** `GET /dev/mailbox`: the mails that wait here because there is no mail server. */
export const mailboxHandler: Handler = ({ runtime, request, tenant }) => {
  if (tenant.config.smtp_url) return plainError(404, "Mail goes to the mail server (SMTP_URL).");
  return mailboxPage(runtime, request);
};

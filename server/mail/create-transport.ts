import type { Database } from "#db/client";
import type { Config } from "../config/schema.ts";
import { missingTransport } from "../messages/transport.ts";
import { createMailboxTransport } from "./mailbox.ts";
import { createSmtpTransport } from "./smtp-transport.ts";
import type { MailTransport } from "./transport.ts";

/** The transport of the configured mail server; in development without one, the local mailbox. */
export function createMailTransport(config: Config, database: Database, maxWaiting?: number): MailTransport {
  if (config.smtp_url) return createSmtpTransport(config.smtp_url, maxWaiting);
  if (config.mode === "development") return createMailboxTransport(database);
  return missingTransport("NO_MAIL_SERVER", "SMTP_URL is missing: no mail can be sent");
}

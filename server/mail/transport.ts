import type { Database } from "#db/client";
import type { Config } from "../config/schema.ts";
import type { Language } from "../runtime.ts";
import { createMailboxTransport } from "./mailbox.ts";
import { createSmtpTransport } from "./smtp-transport.ts";

/** A mail in words: one line of subject, and the same text twice. */
export interface Letter {
  /** The language it is really in, which may not be the one asked for. */
  language: Language;
  subject: string;
  text: string;
  html: string;
}

export interface OutgoingMail extends Letter {
  /** Identifier of the job, a UUID; a mail that is sent twice carries the same one twice. */
  id: string;
  /** One address without a name. */
  to: string;
}

/** Where mails go. */
export interface MailTransport {
  /**
   * Resolves when somebody else has taken responsibility for the mail.
   *
   * @throws PermanentFailure when it will never be taken
   */
  send(mail: OutgoingMail, signal: AbortSignal): Promise<void>;
  close(): void;
}

/** The mail server of the configuration; in development without one, the local mailbox. */
export function createMailTransport(config: Config, database: Database): MailTransport {
  if (config.smtp_url) {
    const { from_address, from_name } = config.email_delivery;
    return createSmtpTransport(config.smtp_url, {
      name: from_name ?? config.service.name,
      address: from_address,
    });
  }
  if (config.mode === "development") return createMailboxTransport(database);
  return {
    async send() {
      throw Object.assign(new Error("SMTP_URL is missing: no mail can be sent"), { code: "NO_MAIL_SERVER" });
    },
    close() {},
  };
}

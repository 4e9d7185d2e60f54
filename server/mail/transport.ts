import type { Language } from "#words/language";

/** A mail in words: one line of subject, and the same text twice. */
export interface RenderedMail {
  /** The language it is really in, which may not be the one asked for. */
  language: Language;
  subject: string;
  text: string;
  html: string;
}

export interface OutgoingMail extends RenderedMail {
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

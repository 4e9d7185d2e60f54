import type { PageLanguage } from "#words/language-tags";

/** A rendered mail: a one-line subject, and the text twice. */
export interface RenderedMail {
  language: PageLanguage;
  subject: string;
  text: string;
  html: string;
}

export interface OutgoingMail extends RenderedMail {
  /** Identifier of the job, a UUID; a mail that is sent twice has the same one. */
  id: string;
  /** One address without a name. */
  to: string;
}

/** Sends mails. */
export interface MailTransport {
  /**
   * Resolves when another system has accepted responsibility for the mail, with its answer.
   *
   * @throws PermanentFailure if it will never be accepted
   */
  send(mail: OutgoingMail, signal: AbortSignal): Promise<string>;
  close(): void;
}

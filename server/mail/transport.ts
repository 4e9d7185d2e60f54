import type { PageLanguage } from "#words/language-tags";
import type { Transport } from "../messages/transport.ts";

/** A rendered mail: a one-line subject, and the text twice. */
export interface RenderedMail {
  language: PageLanguage;
  subject: string;
  text: string;
  html: string;
}

export interface OutgoingMail extends RenderedMail {
  from: { name: string; address: string };
  /** Identifier of the job, a UUID; a mail that is sent twice has the same one. */
  id: string;
  /** One address without a name. */
  to: string;
}

export type MailTransport = Transport<OutgoingMail>;

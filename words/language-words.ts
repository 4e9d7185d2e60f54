import type { ConfirmationWords } from "./confirmation.ts";
import type { FlowWords } from "./flow.ts";
import type { MailWords } from "./mail.ts";

/** Everything that pages and mails say in one language. */
export interface LanguageWords {
  /** The language's own name for itself, for instance `Deutsch`. */
  name: string;
  flow: FlowWords;
  confirmation: ConfirmationWords;
  mail: MailWords;
}

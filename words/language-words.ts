import type { ConfirmationWords } from "./confirmation.ts";
import type { FlowWords } from "./flow.ts";
import type { MailWords } from "./mail.ts";
import type { TerminalWords } from "./terminal.ts";

/** All texts of pages and mails in one language. */
export interface LanguageWords {
  /** The language's own name for itself, for instance `Deutsch`. */
  name: string;
  flow: FlowWords;
  confirmation: ConfirmationWords;
  mail: MailWords;
  terminal: TerminalWords;
}

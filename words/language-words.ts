import type { ConfirmationWords } from "./confirmation.ts";
import type { FlowWords } from "./flow.ts";
import type { FrameWords } from "./frame.ts";
import type { MailWords } from "./mail.ts";
import type { SmsWords } from "./sms.ts";
import type { TerminalWords } from "./terminal.ts";

/** All texts of pages, mails and SMS in one language. */
export interface LanguageWords {
  /** The language's own name for itself, for instance `Deutsch`. */
  name: string;
  flow: FlowWords;
  confirmation: ConfirmationWords;
  frame: FrameWords;
  mail: MailWords;
  sms: SmsWords;
  terminal: TerminalWords;
}

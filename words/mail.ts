import type { MailKind, MailMessage, mailMessages } from "#server/mail/messages";

/**
 * The texts of all mails in one language, in ICU message syntax. Every text may use {service}, the name of the service,
 * and {host}, its host name; subjects of messages with a code, {code}; `validity`, {minutes}; `event` of a changed
 * address, {address}; `event` of a sign-in, {time}, {browser}, which is `Unknown` if it is unknown, and {place}, which is
 * `none` if it is unknown; `event` of a changed second factor, {factor}: `totp`, `security_key`, `authenticator` or
 * `recovery_codes`; `event` of an impersonation, {time}, {minutes} and the {reason}.
 */
export interface MailWords {
  messages: { [Message in MailMessage]: WordsOf[(typeof mailMessages)[Message]] };
  /** What to do about a change that the reader did not make. */
  unexpected: string;
  /** What to do about a change that the reader made. */
  expected: string;
  /** How long the code is valid. Also the preview line. */
  validity: string;
  /** Stands above the link, if there is one, and says what to do with it. */
  link: string;
  /** The text of the link, where its address is not shown. */
  linkLabel: string;
  /** Asks the reader to keep the code secret. */
  secrecy: string;
  /** The footer: who sent this, and that replies are not read. */
  automatic: string;
}

interface WordsOf extends Record<MailKind, object> {
  passcode: PasscodeWords;
  notice: NoticeWords;
  address_change: ChangeWords;
  factor_change: ChangeWords;
  change: ChangeWords;
  deletion: AdvisedWords;
  sign_in: AdvisedWords;
  impersonation: AdvisedWords;
}

interface PasscodeWords {
  subject: string;
  heading: string;
  /** Stands above the code and says what to do with it. */
  request: string;
  /** For readers who did not request the code. */
  ignore: string;
}

interface NoticeWords {
  subject: string;
  /** The line that mail programs show beside the subject. */
  preview: string;
  heading: string;
  /** What happened. */
  event: string;
  /** What to do if it was the reader. */
  advice: string;
  /** For readers who did not do it. */
  ignore: string;
}

interface ChangeWords {
  subject: string;
  heading: string;
  /** What was changed. Also the preview line. */
  event: string;
}

interface AdvisedWords extends ChangeWords {
  /** What to do if it was not the reader, in place of the general text. */
  unexpected: string;
}

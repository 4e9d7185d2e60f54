import type { NoticeMail, PasscodeMail, SecurityMail } from "../mail-job.ts";

/**
 * What all mails say in one language, in ICU message syntax. Every string may use {service}, the service's name,
 * and {host}, the host name people reach it under; subjects of mails with a code, {code}; `validity`, {minutes};
 * events, {address} where they are about one, or {factor}: `totp`, `security_key`, `authenticator`, `recovery_codes`.
 */
export interface MailWords {
  mails: Record<PasscodeMail, PasscodeWords> & Record<NoticeMail, NoticeWords>;
  /** Mails that tell the owner of an account what was changed in it. */
  changes: Record<SecurityMail["type"], ChangeWords>;
  /** What to do about a change that the reader did not make. */
  unexpected: string;
  /** For those who made the change themselves. */
  expected: string;
  /** How long the code lives. Also the line that mail programs show beside the subject. */
  validity: string;
  /** That the code is for the reader alone. */
  secrecy: string;
  /** Who sent this, and that nobody reads answers. */
  automatic: string;
}

interface PasscodeWords {
  subject: string;
  heading: string;
  /** Stands above the code and says what to do with it. */
  request: string;
  /** For those who did not ask for it. */
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
  /** For those who did not do it. */
  ignore: string;
}

interface ChangeWords {
  subject: string;
  heading: string;
  /** What was changed. Also the line that mail programs show beside the subject. */
  event: string;
}

/**
 * Every mail message by its name, with how it is drawn: one entry per message. `words/<language>/mail.ts` holds its
 * texts. A `passcode` message carries a code, a `notice` nothing. The others report a change of an account to its
 * owner: `address_change` names the email address and `factor_change` the second factor that was changed. `deletion` and
 * `sign_in` report what no change undoes, so they have their own advice; `sign_in` says when, where and with which browser.
 * `impersonation` says that an operator signed in as the owner, when, for how long and why.
 */
export const mailMessages = {
  login: "passcode",
  recovery: "passcode",
  email_verification: "passcode",
  email_login_attempted: "notice",
  email_registration_attempted: "notice",
  recovery_offered: "notice",
  email_create: "address_change",
  email_delete: "address_change",
  primary_email_update: "address_change",
  password_update: "change",
  password_delete: "change",
  passkey_create: "change",
  passkey_delete: "change",
  mfa_create: "factor_change",
  identity_create: "change",
  recovery_code_use: "change",
  mfa_delete: "factor_change",
  phone_create: "change",
  phone_delete: "change",
  account_delete: "deletion",
  new_browser: "sign_in",
  impersonation: "impersonation",
} as const satisfies Record<
  string,
  | "passcode"
  | "notice"
  | "address_change"
  | "factor_change"
  | "change"
  | "deletion"
  | "sign_in"
  | "impersonation"
>;

type MailMessages = typeof mailMessages;

export type MailMessage = keyof MailMessages;

export type MailKind = MailMessages[MailMessage];

/** The messages that are drawn as `Kind`. */
export type MessageOf<Kind extends MailKind> = {
  [Message in MailMessage]: MailMessages[Message] extends Kind ? Message : never;
}[MailMessage];

export function messagesOf<Kind extends MailKind>(kind: Kind): MessageOf<Kind>[] {
  return (Object.keys(mailMessages) as MailMessage[]).filter(
    (message): message is MessageOf<Kind> => mailMessages[message] === kind,
  );
}

/** Second factors as mails name them. */
export const mailFactors = ["totp", "security_key", "authenticator", "recovery_codes"] as const;

export type MailFactor = (typeof mailFactors)[number];

/** A message that carries a code. */
export type PasscodeMail = MessageOf<"passcode">;

/** A message that reports an event and carries no code. */
export type NoticeMail = MessageOf<"notice">;

/** A message that reports a change of an account to its owner. */
export type SecurityMail =
  | {
      type: MessageOf<"address_change">;
      /** Canonical. */
      address: string;
      /** The primary address before the change, for `primary_email_update`. */
      previous?: string;
    }
  | { type: MessageOf<"factor_change">; factor?: MailFactor }
  | { type: MessageOf<"change"> | MessageOf<"deletion"> }
  | ({ type: MessageOf<"sign_in"> } & SignInDetails)
  | ({ type: MessageOf<"impersonation"> } & ImpersonationDetails);

/** A sign-in as its mail tells of it. */
export interface SignInDetails {
  /** ISO 8601. */
  at: string;
  /** Of `describeUserAgent`, which names browsers of a closed list. */
  browser: string;
  /** Of the location database; null if it is unknown. */
  place: string | null;
}

/** An operator who signs in as a user, as the mail to the user tells of it. */
export interface ImpersonationDetails {
  /** ISO 8601. */
  at: string;
  /** How long it lasts at most. */
  minutes: number;
  /** In the words of the operator: one line. */
  reason: string;
}

import type { Language } from "../lib/languages.ts";

/** A mail that carries a code. */
export type PasscodeMail = "login" | "recovery" | "email_verification";

/** A mail that tells of something and carries no code. */
export type NoticeMail = "email_login_attempted" | "email_registration_attempted";

/** A mail that tells the owner of an account what was changed in it. */
export type SecurityMail =
  | { type: "email_create" | "email_delete" | "primary_email_update" /** Canonical. */; address: string }
  | {
      type: "mfa_create" | "mfa_delete";
      factor?: "totp" | "security_key" | "authenticator" | "recovery_codes";
    }
  | {
      type:
        | "password_update"
        | "password_delete"
        | "passkey_create"
        | "passkey_delete"
        | "identity_create"
        | "recovery_code_use";
    };

/** A job that sends one mail. */
export interface MailJob {
  name: "send_mail";
  tenantId: string;
  /** Canonical address; null where there is none to send to, and the job does nothing: its absence would tell. */
  to: string | null;
  language: Language;
  mail: { type: PasscodeMail; code: string; ttlSeconds: number } | { type: NoticeMail } | SecurityMail;
}

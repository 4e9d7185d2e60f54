import type { MailContent } from "../mail/mail-job.ts";
import { type MailMessage, mailFactors } from "../mail/messages.ts";
import type { SmsPurpose } from "../sms/sms-job.ts";

const passcode = { code: "048213", ttlSeconds: 300 };

/** Example contents of every message; several where a message has variants. */
export const mailSamples: { [Message in MailMessage]: readonly (MailContent & { type: Message })[] } = {
  login: [
    { type: "login", ...passcode },
    { type: "login", ...passcode, link: `https://login.example.com/mailed-link?token=${"A".repeat(250)}` },
  ],
  recovery: [{ type: "recovery", ...passcode }],
  email_verification: [{ type: "email_verification", ...passcode, ttlSeconds: 60 }],
  email_login_attempted: [{ type: "email_login_attempted" }],
  email_registration_attempted: [{ type: "email_registration_attempted" }],
  recovery_offered: [{ type: "recovery_offered" }],
  email_create: [{ type: "email_create", address: "ada.new@example.com" }],
  email_delete: [{ type: "email_delete", address: "ada.old@example.com" }],
  primary_email_update: [
    { type: "primary_email_update", address: `ada.${"long".repeat(12)}@mail.example.com` },
  ],
  password_update: [{ type: "password_update" }],
  password_delete: [{ type: "password_delete" }],
  passkey_create: [{ type: "passkey_create" }],
  passkey_delete: [{ type: "passkey_delete" }],
  mfa_create: mailFactors.map((factor) => ({ type: "mfa_create", factor })),
  identity_create: [{ type: "identity_create" }],
  recovery_code_use: [{ type: "recovery_code_use" }],
  mfa_delete: [
    ...mailFactors.map((factor) => ({ type: "mfa_delete" as const, factor })),
    { type: "mfa_delete" },
  ],
  phone_create: [{ type: "phone_create" }],
  phone_delete: [{ type: "phone_delete" }],
  account_delete: [{ type: "account_delete" }],
  impersonation: [
    {
      type: "impersonation",
      at: "2026-11-24T09:41:00.000Z",
      minutes: 15,
      reason: "CS-4711",
    },
  ],
  new_browser: [
    {
      type: "new_browser",
      at: "2026-11-24T09:41:00.000Z",
      browser: "Windows (Firefox)",
      place: "Lisbon, Portugal",
    },
    { type: "new_browser", at: "2026-11-24T09:41:00.000Z", browser: "Unknown", place: null },
  ],
};

/** Example contents of every SMS. Its host is that of the tenant. */
export const smsSamples: Record<SmsPurpose, typeof passcode> = {
  sms_login: passcode,
  sms_second_factor: passcode,
  phone_verification: passcode,
};

/** What tells an example from the others of its message. */
export function exampleName(content: MailContent): string {
  if ("link" in content) return "with a link";
  if ("place" in content) return content.place === null ? "unknown place" : "known place";
  return "factor" in content && content.factor ? content.factor : "other";
}

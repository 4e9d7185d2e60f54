import { flag, section } from "./leaves.ts";

/** Mails to the account owner about security-relevant changes. */
export const securityNotifications = section({
  notifications: section({
    email_create: section({
      enabled: flag(true).describe("Mail the owner when an address or a phone number was added."),
    }),
    email_delete: section({
      enabled: flag(true).describe("Mail the owner when an address or the phone number was removed."),
    }),
    primary_email_update: section({
      enabled: flag(true).describe("Mail the owner when another address became the primary one."),
    }),
    password_update: section({
      enabled: flag(true).describe("Mail the owner when the password was changed or removed."),
    }),
    passkey_create: section({
      enabled: flag(true).describe(
        "Mail the owner when a passkey was added or removed, or an identity provider connected.",
      ),
    }),
    mfa_create: section({ enabled: flag(true).describe("Mail the owner when a second factor was added.") }),
    mfa_delete: section({
      enabled: flag(true).describe(
        "Mail the owner when a second factor was removed, or a recovery code used.",
      ),
    }),
    account_delete: section({
      enabled: flag(true).describe("Mail the owner when the account was deleted."),
    }),
    new_browser: section({
      enabled: flag(true).describe(
        "Mail the owner when the account was signed in to in a browser that it has not used before: one without the sealed cookie that a sign-in leaves for a year. A client that keeps no cookies is new each time.",
      ),
    }),
  }),
});

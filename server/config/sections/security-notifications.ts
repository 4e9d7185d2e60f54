import { flag, section } from "./leaves.ts";

/** Mails to the account owner about security-relevant changes. */
export const securityNotifications = section({
  notifications: section({
    email_create: section({ enabled: flag(true).describe("Mail the owner when an address was added.") }),
    email_delete: section({ enabled: flag(true).describe("Mail the owner when an address was removed.") }),
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
  }),
});

import { flag, section } from "./leaves.ts";

/** @param change completes "Mail the owner when" */
const notification = (change: string) =>
  section({ enabled: flag(true).describe(`Mail the owner when ${change}.`) });

/** Mails to the account owner about security-relevant changes. */
export const securityNotifications = section({
  notifications: section({
    email_create: notification("an address or a phone number was added"),
    email_delete: notification("an address or the phone number was removed"),
    primary_email_update: notification("another address became the primary one"),
    password_update: notification("the password was changed or removed"),
    passkey_create: notification("a passkey was added or removed, or an identity provider connected"),
    mfa_create: notification("a second factor was added"),
    mfa_delete: notification("a second factor was removed, or a recovery code used"),
    account_delete: notification("the account was deleted"),
    new_browser: notification(
      "the account was signed in to in a browser that it has not used before: one without the sealed cookie that a sign-in leaves for a year. A client that keeps no cookies is new each time",
    ),
  }),
});

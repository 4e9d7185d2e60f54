import type { MailWords } from "../mail.ts";

export const mail: MailWords = {
  messages: {
    login: {
      subject: "{code} is your {service} sign-in code",
      heading: "Your sign-in code",
      request: "Enter this code to sign in to {service}:",
      ignore: "If you did not try to sign in, you can ignore this message. The code is needed to sign in.",
    },
    recovery: {
      subject: "{code} is your {service} code for a new password",
      heading: "Set a new password",
      request: "Enter this code to set a new password for {service}:",
      ignore:
        "If you did not ask for a new password, you can ignore this message. Your password stays as it is.",
    },
    email_verification: {
      subject: "{code} is your {service} confirmation code",
      heading: "Confirm your email address",
      request: "Enter this code to confirm that this email address is yours:",
      ignore: "If you did not give this address to {service}, you can ignore this message.",
    },
    email_login_attempted: {
      subject: "Sign-in attempt at {service}",
      preview: "There is no account with this email address.",
      heading: "No account with this address",
      event:
        "Someone tried to sign in to {service} with this email address, but there is no account with it.",
      advice: "If that was you, you may have registered with another address.",
      ignore: "If that was not you, you can ignore this message. Nothing has happened.",
    },
    email_registration_attempted: {
      subject: "You already have a {service} account",
      preview: "Someone tried to register with this email address.",
      heading: "You already have an account",
      event:
        "Someone tried to register at {service} with this email address, but you already have an account.",
      advice: "If that was you, sign in with this address instead.",
      ignore: "If that was not you, you can ignore this message. Your account has not changed.",
    },
    recovery_offered: {
      subject: "Sign in to {service} again",
      preview: "You can ask for a code, and set a new password.",
      heading: "Sign in again",
      event: "The people who run {service} were asked to help you sign in to your account.",
      advice:
        "Go to {host} and enter this email address. There you can ask for a code, and set a new password if you use one.",
      ignore: "If you did not ask for help, you can ignore this message. Your account has not changed.",
    },
    email_create: {
      subject: "An email address was added to your {service} account",
      heading: "A new email address",
      event: "The email address {address} was added to your account at {service}.",
    },
    email_delete: {
      subject: "An email address was removed from your {service} account",
      heading: "An email address was removed",
      event: "The email address {address} was removed from your account at {service}.",
    },
    primary_email_update: {
      subject: "The main email address of your {service} account has changed",
      heading: "A new main email address",
      event:
        "The main email address of your account at {service} is now {address}. Messages about your account go there.",
    },
    password_update: {
      subject: "The password of your {service} account has changed",
      heading: "A new password",
      event: "A new password was set for your account at {service}.",
    },
    password_delete: {
      subject: "The password of your {service} account was removed",
      heading: "Your password was removed",
      event: "The password of your account at {service} was removed.",
    },
    passkey_create: {
      subject: "A passkey was added to your {service} account",
      heading: "A new passkey",
      event: "A passkey was added to your account at {service}. Its holder can sign in with it.",
    },
    passkey_delete: {
      subject: "A passkey was removed from your {service} account",
      heading: "A passkey was removed",
      event: "A passkey was removed from your account at {service}. It no longer opens your account.",
    },
    mfa_create: {
      subject: "The second step of signing in to {service} has changed",
      heading: "Your second step has changed",
      event:
        "{factor, select, totp {An authenticator app was} security_key {A security key was} authenticator {A phone was} recovery_codes {New recovery codes were} other {A second factor was}} set up as the second step of signing in to your account at {service}.",
    },
    identity_create: {
      subject: "Another account was connected to {service}",
      heading: "Another account was connected",
      event:
        "Your account at {service} was connected to one at another provider, which lets you in from now on.",
    },
    recovery_code_use: {
      subject: "A recovery code was used at {service}",
      heading: "A recovery code was used",
      event:
        "One of your recovery codes was used to sign in to your account at {service}, in place of the second step. That code is used up.",
    },
    mfa_delete: {
      subject: "A second step of signing in to {service} was removed",
      heading: "A second step was removed",
      event:
        "{factor, select, totp {The authenticator app} security_key {A security key} authenticator {A phone} recovery_codes {The recovery codes} other {A second factor}} can no longer be used as the second step of signing in to your account at {service}.",
    },
    phone_create: {
      subject: "A phone number was added to your {service} account",
      heading: "A new phone number",
      event: "A phone number was set for your account at {service}. Codes can be sent to it.",
    },
    phone_delete: {
      subject: "The phone number was removed from your {service} account",
      heading: "Your phone number was removed",
      event: "The phone number was removed from your account at {service}. Codes are no longer sent to it.",
    },
    account_delete: {
      subject: "Your {service} account was deleted",
      heading: "Your account was deleted",
      event: "Your account at {service} was deleted, with everything in it.",
      unexpected: "If that was not you, tell the people who run {service}.",
    },
    impersonation: {
      subject: "The people who run {service} signed in to your account",
      heading: "A sign-in in your place",
      event:
        "The people who run {service} signed in to your account on {time} to see what you see. They cannot change how you sign in. It ends after {minutes, plural, one {# minute} other {# minutes}} at the latest. The reason they gave: {reason}",
      unexpected:
        "If you did not ask for help, tell the people who run {service}. You can end the session at {host}, under your sessions.",
    },
    new_browser: {
      subject: "New sign-in to your {service} account",
      heading: "A sign-in in a new browser",
      event:
        "Your account at {service} was signed in to on {time}{browser, select, Unknown {} other { with {browser}}}{place, select, none {} other {, near {place}}}. This browser was not used for it before.",
      unexpected:
        "If that was not you, another person may be in your account. Sign in at {host}, end the other sessions and set a new password. If you can no longer sign in, tell the people who run {service}.",
    },
  },
  unexpected:
    "If that was not you, another person may be in your account. Sign in at {host}, undo the change, set a new password and end the other sessions. If you can no longer sign in, tell the people who run {service}.",
  expected: "If that was you, there is nothing to do.",
  validity: "It is valid for {minutes, plural, one {# minute} other {# minutes}} and works once.",
  link: "Or open this link and press the button there:",
  linkLabel: "Continue without typing the code",
  secrecy: "Keep it to yourself: {service} will never ask you for it.",
  automatic: "{service} ({host}) sent this message automatically. Replies are not read.",
};

import type { MailWords } from "./words.ts";

export const en: MailWords = {
  mails: {
    login: {
      subject: "{code} is your {service} sign-in code",
      heading: "Your sign-in code",
      request: "Enter this code to sign in to {service}:",
      ignore:
        "If you did not try to sign in, you can ignore this message. Nobody can sign in without the code.",
    },
    recovery: {
      subject: "{code} is your {service} recovery code",
      heading: "Set a new password",
      request: "Enter this code to set a new password for {service}:",
      ignore:
        "If you did not ask for a new password, you can ignore this message. Your password stays as it is.",
    },
    email_verification: {
      subject: "{code} is your {service} confirmation code",
      heading: "Confirm your e-mail address",
      request: "Enter this code to confirm that this e-mail address is yours:",
      ignore: "If you did not give this address to {service}, you can ignore this message.",
    },
    email_login_attempted: {
      subject: "Sign-in attempt at {service}",
      preview: "There is no account with this e-mail address.",
      heading: "No account with this address",
      event:
        "Someone tried to sign in to {service} with this e-mail address, but there is no account with it.",
      advice: "If that was you, you may have registered with another address.",
      ignore: "If that was not you, you can ignore this message. Nothing has happened.",
    },
    email_registration_attempted: {
      subject: "You already have a {service} account",
      preview: "Someone tried to register with this e-mail address.",
      heading: "You already have an account",
      event:
        "Someone tried to register at {service} with this e-mail address, but you already have an account.",
      advice: "If that was you, sign in with this address instead.",
      ignore: "If that was not you, you can ignore this message. Your account has not changed.",
    },
  },
  validity: "It is valid for {minutes, plural, one {# minute} other {# minutes}} and works once.",
  secrecy: "Keep it to yourself: nobody from {service} will ever ask you for it.",
  automatic: "{service} ({host}) sent this message automatically. Replies are not read.",
};

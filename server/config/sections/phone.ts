import { isSupportedCountry } from "libphonenumber-js/max";
import { address, flag, line, listOf, seconds, secret, section } from "./leaves.ts";

/** ISO 3166-1 has 249 codes. */
const MAX_COUNTRIES = 250;

/** Telephone numbers of accounts. */
export const phone = section({
  enabled: flag(false).describe("Whether an account may have a telephone number, to which codes are sent."),
  optional: flag(true).describe("Whether an account may do without one."),
  acquire_on_registration: flag(false).describe("Ask for a number at registration."),
  use_as_login_identifier: flag(true).describe("Users may identify themselves by their number."),
  use_for_authentication: flag(true).describe("A code by SMS is a way to sign in."),
  allowed_countries: listOf(
    line(2)
      .regex(/^[A-Z]{2}$/, "must be codes of two capital letters (ISO 3166-1), such as DE")
      .refine(isSupportedCountry, "has a code that is no country with telephone numbers"),
    MAX_COUNTRIES,
  )
    .refine((countries) => new Set(countries).size === countries.length, "has a country twice")
    .default([])
    .describe(
      "Countries (ISO 3166-1 alpha-2, such as DE) whose mobile numbers are accepted. Empty: none. Each one is a price that an attacker may make you pay.",
    ),
  code_ttl: seconds(300, { min: 30, max: 600 }).describe(
    "Life of a code by SMS; NIST SP 800-63B-4 allows 10 minutes.",
  ),
});

/** How SMS are sent. */
export const smsDelivery = section({
  enabled: flag(true).describe(
    "Send SMS. If not, each goes to the webhooks that are subscribed to sms.send, and they have to send it.",
  ),
  url: address()
    .refine(isServiceAddress, "must have neither user, query nor fragment")
    .default("https://api.twilio.com")
    .describe(
      "Service that sends SMS: Twilio, or another with its Messages resource. https, or http on the same machine.",
    ),
  account_sid: line(64)
    .regex(/^[A-Za-z0-9_-]+$/, "must be letters, digits, _ and -")
    .optional()
    .describe("Account at that service. Without one, development keeps SMS in the local mailbox page."),
  auth_token: secret().optional().describe("Password of that account. Default: none."),
  from: line(16)
    .regex(
      /^(?:\+[1-9]\d{6,14}|(?=.*[A-Za-z])[A-Za-z0-9 ]{1,11}|\d{3,8})$/,
      "must be a number like +4915112345678, a short code, or a name of up to 11 letters, digits and spaces",
    )
    .optional()
    .describe(
      "Sender of SMS: a number (E.164), a short code, or a name where the country has those. Default: none.",
    ),
  messaging_service_sid: line(64)
    .regex(/^[A-Za-z0-9_-]+$/, "must be letters, digits, _ and -")
    .optional()
    .describe("Messaging service that chooses the sender, in place of from. Default: none."),
  timeout: seconds(10, { min: 1, max: 25 }).describe("How long the service may take to accept an SMS."),
});

function isServiceAddress(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && url.username === "" && url.password === "" && url.search === "" && url.hash === "";
}

import { count, flag, section } from "./leaves.ts";

/** Rate limits. */
export const rateLimiter = section({
  enabled: flag(true).describe(
    "Off lifts every rate limit, for load tests; the tries of a code stay counted.",
  ),
  passcodes_per_minute: count(3, 1).describe("Codes mailed for one account to one source in a minute."),
  passcodes_per_hour: count(10, 1).describe("Codes mailed for one account in an hour; one source gets half."),
  passcodes_per_day: count(24, 1).describe("Codes mailed for one account in a day; one source gets half."),
  reserved_passcodes_per_day: count(8).describe(
    "Codes mailed for one account in a day beyond these limits, to browsers that signed in to it before.",
  ),
  passcodes_per_source: count(60, 1).describe(
    "Codes asked for from one source (IPv4 address, IPv6 /64) in an hour.",
  ),
  sms_per_number: count(5, 1).describe("SMS to one number in an hour; in a day three times as many."),
  sms_per_range: count(10, 1).describe(
    "SMS to numbers that differ in their last three digits alone, in an hour; in a day three times as many.",
  ),
  sms_per_country: count(300, 1).describe(
    "SMS to the numbers of one country in an hour; in a day three times as many. The bound of what strangers can make SMS cost.",
  ),
  sms_per_source: count(10, 1).describe(
    "SMS asked for from one source (IPv4 address, IPv6 /64) in an hour; in a day three times as many.",
  ),
  wrong_passcodes_per_hour: count(10, 1).describe(
    "Wrong codes for one account from one source in an hour, after which that source gets no further code.",
  ),
  notices_per_day: count(20, 1).describe("Notices of changes of an account mailed to one address in a day."),
  passwords_per_minute: count(5, 1).describe("Passwords tried for one account from one source in a minute."),
  passwords_per_source: count(60, 1).describe(
    "Passwords tried from one source in a minute, whatever the account.",
  ),
  otp_codes_per_minute: count(3, 1).describe(
    "Wrong codes of an authenticator app, and wrong recovery codes, of one account from one source in a minute.",
  ),
  exchange_tokens_per_minute: count(3, 1).describe("Exchange tokens tried from one source in a minute."),
  steps_per_account: count(240, 1).describe(
    "Cost of the steps of one account in its profile in a minute: each 1, a write 2, a mail 5, a password's hash 10.",
  ),
  steps_per_source: count(1200, 1).describe("Cost of the steps from one source in a minute."),
  starts_per_minute: count(60, 1).describe("Flows started from one source in a minute."),
  authorizations_per_minute: count(300, 1).describe(
    "Authorization requests from one source to the OpenID provider in a minute, pushed ones included.",
  ),
  client_failures_per_minute: count(120, 1).describe(
    "Requests from one source to the OpenID provider's endpoints for tokens that fail in a minute: those of a client that does not authenticate, or of a public one without a valid code or token. Each client in `openid.clients` is counted by itself; all others of a source share one count. A public one in `openid.clients` begins sign-ins and exchanges their codes beyond it too.",
  ),
  device_codes_per_hour: count(20, 1).describe("Codes of devices that a user may enter in an hour."),
  registrations_per_hour: count(30, 1).describe(
    "Applications that register themselves at the OpenID provider from one source in an hour.",
  ),
  documents_per_host: count(30, 1).describe(
    "Documents that describe applications, and their keys, read from one host in a minute.",
  ),
  documents_per_minute: count(300, 1).describe("The same from all hosts together in a minute."),
  pages_per_minute: count(300, 1).describe(
    "Pages displayed, and states shown again, to one source in a minute.",
  ),
  authenticator_requests_per_minute: count(10, 1).describe(
    "Authenticator requests made for one user in a minute.",
  ),
  passkey_challenges_per_minute: count(60, 1).describe(
    "Challenges that one source opens at the passkey server without a key in a minute.",
  ),
});

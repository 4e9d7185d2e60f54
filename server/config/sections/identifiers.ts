import { choice, count, flag, seconds, section } from "./leaves.ts";

/** Email addresses of accounts. */
export const email = section({
  enabled: flag(true).describe("Whether accounts have email addresses."),
  optional: flag(false).describe("Whether an account may do without one."),
  acquire_on_registration: flag(true).describe("Ask for an address at registration."),
  acquire_on_login: flag(true).describe("Ask for an address at login when the account has none."),
  require_verification: flag(true).describe("An address counts only after a code sent to it came back."),
  use_as_login_identifier: flag(true).describe("Users may identify themselves by their address."),
  use_for_authentication: flag(true).describe("A mailed code is a way to sign in."),
  max_length: count(120, 3, 254).describe("Longest address, in characters."),
  limit: count(5, 1, 100).describe("Most addresses of one account."),
  passcode_charset: choice(["numeric", "alphanumeric"], "numeric").describe(
    "Characters of mailed codes: digits, or digits and letters without those that are easily confused.",
  ),
  passcode_ttl: seconds(300, { max: 600 }).describe(
    "Life of a mailed code; NIST SP 800-63B-4 allows 10 minutes.",
  ),
  links: flag(false).describe(
    "Whether the mail of a code also carries a link. It opens a page with one button, which goes on in the browser that began, and shows the code in any other.",
  ),
});

/** Usernames of accounts. */
export const username = section({
  enabled: flag(false).describe("Whether accounts have usernames."),
  optional: flag(true).describe("Whether an account may do without one."),
  acquire_on_registration: flag(true).describe("Ask for a username at registration."),
  acquire_on_login: flag(true).describe("Ask for a username at login when the account has none."),
  use_as_login_identifier: flag(true).describe("Users may identify themselves by their username."),
  min_length: count(3, 1, 64).describe("Shortest username."),
  max_length: count(32, 1, 64).describe("Longest username."),
});

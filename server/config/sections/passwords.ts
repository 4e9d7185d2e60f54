import { acquire, count, flag, longSecret, section } from "./leaves.ts";

/** Passwords of accounts. */
export const password = section({
  enabled: flag(true).describe("Whether accounts have passwords."),
  optional: flag(false).describe("Whether an account may do without one."),
  acquire_on_registration: acquire("always").describe("Ask for a password at registration."),
  acquire_on_login: acquire("never").describe("Ask for a password at login when the account has none."),
  recovery: flag(true).describe("A code mailed to the account may replace a forgotten password."),
  min_length: count(8, 8, 64).describe(
    "Fewest characters; 15 meets NIST SP 800-63B-4 for passwords as the only factor.",
  ),
  max_length: count(256, 64, 256).describe("Most characters."),
  pepper: longSecret()
    .optional()
    .describe("Secret mixed into every password hash, kept outside the database. Default: none."),
  hash: section({
    memory: count(19_456, 19_456, 1_048_576).describe("argon2id memory in KiB."),
    passes: count(2, 1, 16).describe("argon2id passes."),
    queue: count(64, 1, 10_000).describe("Hashes that may wait at once; more are answered 503."),
  }),
});

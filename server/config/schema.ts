import { isIP } from "node:net";
import { z } from "zod";
import { authenticator } from "./sections/authenticator.ts";
import { saml, thirdParty } from "./sections/identity-providers.ts";
import { acquire, cookieName, count, flag, list, seconds, section, text } from "./sections/leaves.ts";
import { passkeyServer } from "./sections/passkey-server.ts";

/**
 * The one configuration. Every leaf has a default and a description; the environment's names, the file's
 * names and the reference in `docs/` are derived from this tree.
 */
export const configSchema = z.strictObject({
  port: count(3000, 0, 65_535).describe("TCP port to listen on; 0 takes any free one."),
  base_url: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe("Public address of this service. Default: http://localhost:<port>."),
  database_url: z
    .string()
    .regex(/^postgres(ql)?:\/\//, "is not a postgres:// address")
    .optional()
    .describe("PostgreSQL 15 or newer. Default: an embedded PostgreSQL under data_dir."),
  data_dir: text("./data").describe("Folder for the embedded database and for secrets made in development."),
  smtp_url: z
    .string()
    .regex(/^smtps?:\/\//, "is not an smtp:// or smtps:// address")
    .meta({ secret: true })
    .optional()
    .describe("Mail server. Without one, development keeps mail in the local mailbox page."),
  secret_keys: z
    .array(z.string().min(16, "needs at least 16 characters each"))
    .default([])
    .describe(
      "Keys that seal secrets at rest. The first one seals, all of them unseal. At least 16 characters each.",
    ),

  service: section({
    name: text("Stile").describe("Name of the service in pages, mails and authenticator apps."),
  }),
  tenant: section({
    id: z
      .uuid()
      .default("00000000-0000-4000-8000-000000000001")
      .describe("Identifier of the default tenant."),
  }),
  server: section({
    trusted_proxies: z
      .array(z.string().refine(isCidr, "is neither an address nor a CIDR range"))
      .default([])
      .describe("Addresses or CIDR ranges of proxies whose X-Forwarded-For is believed."),
    hosts: list().describe("Further host names, beside that of base_url, that this service answers to."),
    shutdown_timeout: seconds(10).describe(
      "How long running requests and jobs may take to end after SIGTERM.",
    ),
  }),
  cors: section({
    allow_origins: list().describe(
      "Origins, exactly as browsers send them, that may call this service with credentials.",
    ),
  }),
  database: section({
    pool_size: count(10, 1, 200).describe(
      "Connections for writing; reading and claiming take as many again.",
    ),
    prepared_statements: flag(true).describe(
      "Off for connection poolers that cannot keep prepared statements.",
    ),
  }),
  log: section({
    level: z
      .enum(["silent", "error", "warn", "info", "debug"])
      .default("info")
      .describe("Least severe line that is logged."),
  }),
  account: section({
    allow_signup: flag(true).describe("Whether visitors may register themselves."),
    allow_deletion: flag(false).describe("Whether people may delete their account."),
  }),
  flow: section({
    lifetime: seconds(3600).describe("Life of a flow from its start; never extended."),
  }),
  privacy: section({
    show_account_existence_hints: flag(false).describe(
      "Tell visitors when an identifier is unknown or an e-mail address is taken.",
    ),
    only_show_actual_login_methods: flag(false).describe(
      "Offer only the methods that the account has; discloses that it exists.",
    ),
  }),
  email: section({
    enabled: flag(true).describe("Whether accounts have e-mail addresses."),
    optional: flag(false).describe("Whether an account may do without one."),
    acquire_on_registration: flag(true).describe("Ask for an address at registration."),
    acquire_on_login: flag(true).describe("Ask for an address at login when the account has none."),
    require_verification: flag(true).describe("An address counts only after a code sent to it came back."),
    use_as_login_identifier: flag(true).describe("People may name themselves by their address."),
    use_for_authentication: flag(true).describe("A mailed code is a way to sign in."),
    max_length: count(120, 3, 254).describe("Longest address, in characters."),
    limit: count(5, 1, 100).describe("Most addresses of one account."),
    passcode_ttl: seconds(300).describe("Life of a mailed code; at most 10 minutes by NIST SP 800-63B-4."),
  }),
  username: section({
    enabled: flag(false).describe("Whether accounts have usernames."),
    optional: flag(true).describe("Whether an account may do without one."),
    acquire_on_registration: flag(true).describe("Ask for a username at registration."),
    acquire_on_login: flag(true).describe("Ask for a username at login when the account has none."),
    use_as_login_identifier: flag(true).describe("People may name themselves by their username."),
    min_length: count(3, 1, 64).describe("Shortest username."),
    max_length: count(32, 1, 64).describe("Longest username."),
  }),
  password: section({
    enabled: flag(true).describe("Whether accounts have passwords."),
    optional: flag(false).describe("Whether an account may do without one."),
    acquire_on_registration: acquire("always").describe("Ask for a password at registration."),
    acquire_on_login: acquire("never").describe("Ask for a password at login when the account has none."),
    recovery: flag(true).describe("A code mailed to the account may replace a forgotten password."),
    min_length: count(8, 8, 64).describe(
      "Fewest characters; 15 meets NIST SP 800-63B-4 for passwords as the only factor.",
    ),
    max_length: count(256, 64, 256).describe("Most characters."),
    pepper: z
      .string()
      .min(16, "needs at least 16 characters")
      .optional()
      .describe("Secret mixed into every password hash, kept outside the database. Default: none."),
    hash: section({
      memory: count(19_456, 19_456, 1_048_576).describe("argon2id memory in KiB."),
      passes: count(2, 1, 16).describe("argon2id passes."),
      queue: count(64, 1, 10_000).describe("Hashes that may wait at once; more are answered 429."),
    }),
  }),
  passkey: section({
    enabled: flag(true).describe("Whether accounts have passkeys."),
    optional: flag(true).describe("Whether an account may do without one."),
    acquire_on_registration: acquire("always").describe("Offer to create a passkey at registration."),
    acquire_on_login: acquire("always").describe(
      "Offer to create a passkey at login when the account has none.",
    ),
    user_verification: z
      .enum(["required", "preferred", "discouraged"])
      .default("preferred")
      .describe("User verification asked of authenticators."),
    attestation_preference: z
      .enum(["none", "indirect", "direct"])
      .default("none")
      .describe("Attestation asked of authenticators."),
    limit: count(10, 1, 100).describe("Most passkeys of one account."),
    hints: z
      .array(z.enum(["security-key", "client-device", "hybrid"]))
      .default([])
      .describe("Kinds of authenticator that browsers put first: security-key, client-device, hybrid."),
    attestation_formats: z
      .array(z.enum(["none", "packed", "fido-u2f", "tpm", "apple", "android-key"]))
      .default(["none", "packed", "fido-u2f", "tpm", "apple", "android-key"])
      .describe("Formats of attestation statements that are taken."),
    conditional_create: flag(true).describe(
      "Let browsers that can do so create a passkey by themselves after a password login.",
    ),
  }),
  mfa: section({
    enabled: flag(true).describe("Whether accounts have second factors."),
    optional: flag(true).describe("Whether an account may do without one."),
    acquire_on_login: flag(false).describe("Offer to set up a second factor at login."),
    acquire_on_registration: flag(true).describe("Offer to set up a second factor at registration."),
    device_trust_policy: z
      .enum(["never", "prompt", "always"])
      .default("prompt")
      .describe("Whether a browser may be trusted to skip the second factor; prompt asks the person."),
    device_trust_duration: seconds(30 * 86_400).describe("How long a browser is trusted."),
    device_trust_cookie_name: cookieName("service-device-token").describe(
      "Name of the cookie that a trusted browser holds.",
    ),
    device_trust_max_users_per_device: count(20, 1, 50).describe(
      "Most accounts that one browser is trusted for.",
    ),
    recovery_codes: flag(true).describe(
      "Hand out ten codes that stand in for a lost second factor, when the first one is set up.",
    ),
    totp: section({
      enabled: flag(true).describe("Whether authenticator apps are second factors."),
    }),
    authenticator: section({
      enabled: flag(false).describe(
        "Whether a phone that answers authenticator requests is a second factor of the account whose id it is registered for. Clients need to know the state login_authenticator.",
      ),
    }),
    security_keys: section({
      enabled: flag(true).describe("Whether security keys are second factors."),
      limit: count(10, 1, 100).describe("Most security keys of one account."),
      attestation_preference: z
        .enum(["none", "indirect", "direct"])
        .default("none")
        .describe("Attestation asked of security keys."),
      authenticator_attachment: z
        .enum(["platform", "cross-platform", "no_preference"])
        .default("cross-platform")
        .describe("Kind of authenticator that serves as a security key."),
      user_verification: z
        .enum(["required", "preferred", "discouraged"])
        .default("discouraged")
        .describe("User verification asked of security keys."),
    }),
  }),
  third_party: thirdParty,
  saml,
  webauthn: section({
    relying_party: section({
      id: z.string().min(1).optional().describe("Relying party id. Default: the host of base_url."),
      display_name: z.string().min(1).optional().describe("Relying party name. Default: service.name."),
      origins: list().describe("Origins that ceremonies may come from. Default: the origin of base_url."),
    }),
    related_origins: list().describe(
      "Origins of other domains that may use this relying party's passkeys; told at /.well-known/webauthn.",
    ),
    timeout: seconds(300).describe("Life of a challenge, and the time a browser gives the person."),
    sign_count: z
      .enum(["refuse", "warn"])
      .default("refuse")
      .describe("What a signature counter that did not grow leads to."),
  }),
  session: section({
    lifespan: seconds(12 * 3600).describe("Life of a session."),
    idle_timeout: seconds(0).describe("A session unused for so long ends; 0 turns this off."),
    allow_revocation: flag(true).describe("People may end their other sessions."),
    show_on_profile: flag(true).describe("Show people their sessions."),
    step_up_after: seconds(900).describe(
      "Age of the last proof from which on a change of factors, addresses or the password asks for a new one; 0 turns this off.",
    ),
    limit: count(5, 1, 1000).describe("Most sessions of one account; the oldest give way."),
    acquire_ip_address: flag(true).describe("Keep the address a session was opened from."),
    acquire_user_agent: flag(true).describe("Keep the browser a session was opened with."),
    enable_auth_token_header: flag(false).describe("Answer X-Auth-Token instead of setting the cookie."),
    issuer: text("").describe("iss of the session's JWT. Default: base_url."),
    audience: list().describe("aud of the session's JWT. Default: the relying party id."),
    algorithm: z
      .enum(["RS256", "ES256", "EdDSA"])
      .default("RS256")
      .describe("Algorithm of new signing keys."),
    cookie: section({
      name: cookieName("service").describe("Name of the session cookie."),
      domain: text("").describe("Domain attribute of the session cookie; empty for this host alone."),
      same_site: z
        .enum(["strict", "lax", "none"])
        .default("lax")
        .describe("SameSite attribute of the session cookie."),
      retention: z
        .enum(["persistent", "session", "prompt"])
        .default("persistent")
        .describe("Whether the cookie outlives the browser; prompt asks the person."),
    }),
  }),
  passkey_server: passkeyServer,
  authenticator,
  hosted: section({
    allowed_redirect_urls: list().describe(
      "Addresses the hosted page may return to; * matches within a path segment, ** across segments; a query has to be in the entry.",
    ),
  }),
  rate_limiter: section({
    enabled: flag(true).describe(
      "Off lifts every rate limit, for load tests; the tries of a code stay counted.",
    ),
    passcodes_per_minute: count(3, 1).describe("Codes mailed to one address in a minute."),
    passcodes_per_hour: count(10, 1).describe("Codes mailed to one address in an hour."),
    passcodes_per_source: count(60, 1).describe(
      "Codes asked for from one source (IPv4 address, IPv6 /64) in an hour.",
    ),
    wrong_passcodes_per_hour: count(10, 1).describe("Wrong codes that one account may try in an hour."),
    passwords_per_minute: count(5, 1).describe(
      "Passwords tried for one account from one source in a minute.",
    ),
    passwords_per_source: count(60, 1).describe(
      "Passwords tried from one source in a minute, whatever the account.",
    ),
    otp_codes_per_minute: count(3, 1).describe(
      "Wrong codes of an authenticator app, and wrong recovery codes, of one account from one source in a minute.",
    ),
    exchange_tokens_per_minute: count(3, 1).describe("Exchange tokens tried from one source in a minute."),
    starts_per_minute: count(60, 1).describe("Flows started from one source in a minute."),
    authenticator_requests_per_minute: count(10, 1).describe(
      "Authenticator requests made for one user in a minute.",
    ),
    passkey_challenges_per_minute: count(60, 1).describe(
      "Challenges that one source opens at the passkey server without a key in a minute.",
    ),
  }),
  security_notifications: section({
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
  }),
  audit_log: section({
    retention: seconds(30 * 86_400).describe("How long lines of the audit log are kept."),
  }),
  jobs: section({
    secret: z
      .string()
      .min(16, "needs at least 16 characters")
      .optional()
      .describe(
        "Bearer token of GET /api/jobs, which a scheduler calls where no process of ours lives on between requests. Default: none, and nobody may call it.",
      ),
  }),
  email_delivery: section({
    from_address: z.email().default("noreply@localhost.localdomain").describe("Sender's address of mails."),
    from_name: z.string().optional().describe("Sender's name of mails. Default: service.name."),
  }),
});

type Tree = z.output<typeof configSchema>;

/** The configuration as the server uses it: every default filled in, every derived value present. */
export type Config = Omit<Tree, "base_url" | "webauthn" | "passkey_server"> & {
  /** "production", or "development" for everything else. */
  mode: "production" | "development";
  base_url: string;
  webauthn: Omit<Tree["webauthn"], "relying_party"> & {
    relying_party: { id: string; display_name: string; origins: string[] };
  };
  passkey_server: Omit<Tree["passkey_server"], "relying_party" | "mfa"> & {
    relying_party: { id: string; display_name: string; icon?: string | undefined; origins: string[] };
    mfa: Tree["passkey_server"]["mfa"] & { timeout: number };
  };
};

function isCidr(value: string): boolean {
  const [address = "", bits, ...rest] = value.split("/");
  const family = isIP(address);
  if (family === 0 || rest.length > 0) return false;
  return bits === undefined || (/^\d+$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128));
}

import { isIP } from "node:net";
import { z } from "zod";

/**
 * The one configuration. Every leaf has a default and a description; the environment's names, the file's
 * names and the reference in `docs/` are derived from this tree.
 */

/** A span of time, written `90s`, `5m`, `12h`, `30d`, or as a number of seconds. Held in seconds. */
const seconds = (fallback: number) =>
  z
    .union([
      z.number().int().nonnegative(),
      z.string().regex(/^\d+(s|m|h|d)?$/, "is not a duration like 90s, 5m, 12h or 30d"),
    ])
    .transform((value) => {
      const unit = { s: 1, m: 60, h: 3600, d: 86_400 };
      const text = String(value);
      const suffix = text.at(-1) as keyof typeof unit;
      return suffix in unit ? Number(text.slice(0, -1)) * unit[suffix] : Number(text);
    })
    .prefault(fallback);

const flag = (fallback: boolean) => z.boolean().default(fallback);
const count = (fallback: number, min = 0, max = 1_000_000) =>
  z.number().int().min(min).max(max).default(fallback);
const text = (fallback: string) => z.string().default(fallback);
const list = (fallback: string[] = []) => z.array(z.string().min(1)).default(fallback);

const acquire = (fallback: "always" | "conditional" | "never") =>
  z.enum(["always", "conditional", "never"]).default(fallback);

const section = <Shape extends z.ZodRawShape>(shape: Shape) => z.strictObject(shape).prefault({} as never);

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
      .describe("Secret mixed into every password hash, kept outside the database."),
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
  }),
  mfa: section({
    enabled: flag(false).describe("Whether accounts have second factors."),
  }),
  webauthn: section({
    relying_party: section({
      id: z.string().min(1).optional().describe("Relying party id. Default: the host of base_url."),
      display_name: z.string().min(1).optional().describe("Relying party name. Default: service.name."),
      origins: list().describe("Origins that ceremonies may come from. Default: the origin of base_url."),
    }),
    timeout: seconds(300).describe("Life of a challenge, and the time a browser gives the person."),
    sign_count: z
      .enum(["refuse", "warn"])
      .default("refuse")
      .describe("What a signature counter that did not grow leads to."),
  }),
  session: section({
    lifespan: seconds(12 * 3600).describe("Life of a session."),
    idle_timeout: seconds(0).describe("A session unused for so long ends; 0 turns this off."),
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
      name: z
        .string()
        .regex(/^[A-Za-z0-9_-]+$/, "is not a cookie name")
        .default("service")
        .describe("Name of the session cookie."),
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
  hosted: section({
    allowed_redirect_urls: list().describe(
      "Addresses the hosted page may return to; * matches within a path segment, ** across segments.",
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
    starts_per_minute: count(60, 1).describe("Flows started from one source in a minute."),
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
        "Bearer token of GET /api/jobs, which a scheduler calls where no process of ours lives on between requests.",
      ),
  }),
  email_delivery: section({
    from_address: z.email().default("noreply@localhost.localdomain").describe("Sender's address of mails."),
    from_name: z.string().optional().describe("Sender's name of mails. Default: service.name."),
  }),
});

type Tree = z.output<typeof configSchema>;

/** The configuration as the server uses it: every default filled in, every derived value present. */
export type Config = Omit<Tree, "base_url" | "webauthn"> & {
  /** "production", or "development" for everything else. */
  mode: "production" | "development";
  base_url: string;
  webauthn: Omit<Tree["webauthn"], "relying_party"> & {
    relying_party: { id: string; display_name: string; origins: string[] };
  };
};

function isCidr(value: string): boolean {
  const [address = "", bits, ...rest] = value.split("/");
  const family = isIP(address);
  if (family === 0 || rest.length > 0) return false;
  return bits === undefined || (/^\d+$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128));
}

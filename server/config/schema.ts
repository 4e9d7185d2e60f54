import { isIP } from "node:net";
import { z } from "zod";
import { authenticator } from "./sections/authenticator.ts";
import { operatorConsole } from "./sections/console.ts";
import { email, username } from "./sections/identifiers.ts";
import { saml, thirdParty } from "./sections/identity-providers.ts";
import {
  backupKey,
  choice,
  count,
  databaseAddresses,
  embedderList,
  flag,
  hostName,
  longSecret,
  originList,
  redirectList,
  seconds,
  section,
  text,
  workerCount,
} from "./sections/leaves.ts";
import { openid } from "./sections/openid.ts";
import { passkeyServer } from "./sections/passkey-server.ts";
import { passkey, webauthn } from "./sections/passkeys.ts";
import { password } from "./sections/passwords.ts";
import { phone, smsDelivery } from "./sections/phone.ts";
import { rateLimiter } from "./sections/rate-limits.ts";
import { mfa } from "./sections/second-factors.ts";
import { securityNotifications } from "./sections/security-notifications.ts";
import { service } from "./sections/service.ts";
import { session } from "./sections/sessions.ts";
import { links, theme } from "./sections/theme.ts";
import { webhooks } from "./sections/webhooks.ts";
import { wellKnown } from "./sections/well-known.ts";
import { words } from "./sections/words.ts";
import { MAX_SERVICE_NAME_CHARACTERS } from "./service-name.ts";
import type { IgnoredEntry } from "./within-bounds.ts";

/**
 * The configuration. Every leaf has a default, a description and its bounds; the environment's names, the file's names
 * and `docs/reference/configuration.md` are derived from this tree. A rule about several leaves is one of `rules.ts`.
 */
export const configSchema = z.strictObject({
  port: count(3000, 0, 65_535).describe("TCP port to listen on; 0 takes any free one."),
  base_url: z
    .url({
      protocol: /^https?$/,
      error: ({ input }) =>
        String(input).includes("://")
          ? "must be an http:// or https:// address"
          : "has no scheme: it must begin with https://, or with http:// in development",
    })
    .optional()
    .describe(
      "Public address of this service. Default: on Vercel that of the project or deployment, else http://localhost:<port>.",
    ),
  database_url: z
    .string()
    .regex(/^postgres(ql)?:\/\//, "is not a postgres:// address")
    // It may hold a password.
    .meta({ secret: true })
    .optional()
    .describe("PostgreSQL 15 or newer. Default: an embedded PostgreSQL under data_dir."),
  data_dir: text("./data").describe("Folder for the embedded database and for secrets made in development."),
  smtp_url: z
    .string()
    .regex(/^smtps?:\/\//, "is not an smtp:// or smtps:// address")
    .max(2048)
    .meta({ secret: true })
    .optional()
    .describe("Mail server. Without one, development keeps mail in the local mailbox page."),
  secret_keys: z
    .array(z.string().min(16, "needs at least 16 characters each"))
    .meta({ secret: true })
    .default([])
    .describe(
      "Keys that seal secrets at rest. The first one seals, all of them unseal. At least 16 characters each.",
    ),

  service,
  tenant: section({
    id: z
      .uuid()
      .default("00000000-0000-4000-8000-000000000001")
      .describe("Identifier of the default tenant."),
  }),
  server: section({
    workers: workerCount().describe(
      "Processes that answer requests. With 1, one process does everything. With more, a further one owns the embedded database, jobs, deliveries and purges. auto: one for each core, if there are connections for it (database.pool_size).",
    ),
    trusted_proxies: z
      .array(z.string().refine(isCidr, "is neither an address nor a CIDR range"))
      .default([])
      .describe("Addresses or CIDR ranges of proxies whose X-Forwarded-For is believed."),
    hosts: z
      .array(hostName())
      .default([])
      .describe("Further host names, beside that of base_url, that this service answers to."),
    send_timeout: seconds(60, { min: 5 }).describe(
      "How long a client may read nothing of an answer, or less than 1 KiB a second, before its connection is closed.",
    ),
    shutdown_timeout: seconds(10).describe(
      "How long running requests and jobs may take to end after SIGTERM.",
    ),
  }),
  cors: section({
    allow_origins: originList("https://app.example.com").describe(
      "Origins, exactly as browsers send them, that may call this service with credentials.",
    ),
  }),
  embed: section({
    origins: embedderList().describe(
      "Origins, exactly as browsers send them, of pages that may show the login in a frame, and those that receive the session cookie also the pages of authorization requests; their passkey ceremonies are accepted. https only, in development also http://localhost. Default: none.",
    ),
  }),
  database: section({
    pool_size: count(10, 1, 200).describe(
      "Connections for writing; reading and claiming take as many again. The processes of server.workers share them. On Vercel 2 by default.",
    ),
    prepared_statements: flag(true).describe(
      "Off for connection poolers in transaction mode (PgBouncer and the like): nothing is then sent that has to outlive a transaction.",
    ),
    replicas: databaseAddresses().describe(
      "Standbys of the database, each an address of one server, at which lists and counts of the administration interface and of the console are read, and the account of a session. Needs DATABASE_URL. Default: none.",
    ),
    replica_max_lag: seconds(5, { min: 1, max: 60 }).describe(
      "A standby that lacks what the primary had this long ago is not used until it has it.",
    ),
  }),
  log: section({
    level: choice(["silent", "error", "warn", "info", "debug"], "info").describe(
      "Least severe line that is logged.",
    ),
  }),
  metrics: section({
    port: z
      .int()
      .min(1)
      .max(65_535)
      .optional()
      .describe(
        "Port beside that of the service on which GET /metrics answers with the metrics of all its processes (OpenMetrics). Default: none.",
      ),
    host: z
      .union([z.ipv4(), z.ipv6()])
      .optional()
      .describe(
        "Address of this machine on which that port is open; 0.0.0.0 or :: for all. Default: 127.0.0.1.",
      ),
    key: longSecret().optional().describe("Bearer token that such a request has to send. Default: none."),
  }),
  backup: section({
    key: backupKey()
      .optional()
      .describe(
        "Key that stile backup encrypts with, and stile restore decrypts with. Default: none; backups are then not encrypted.",
      ),
  }),
  account: section({
    allow_signup: flag(true).describe("Whether visitors may register themselves."),
    allow_deletion: flag(false).describe("Whether users may delete their account."),
    allow_name_change: flag(true).describe("Whether users may change their name."),
    allow_picture_change: flag(true).describe("Whether users may upload and remove a picture of themselves."),
    metadata_editor: flag(false).describe(
      "Whether the account page shows an editor, in JSON, of the metadata that the user may change. The action is offered to clients either way.",
    ),
  }),
  compatibility: section({
    error_codes: choice(["published", "precise"], "published").describe(
      "published sends, for error codes that published components have no words for, the nearest code that they know; precise sends every code itself.",
    ),
  }),
  flow: section({
    lifetime: seconds(3600).describe("Life of a flow from its start; never extended."),
  }),
  privacy: section({
    show_account_existence_hints: flag(false).describe(
      "Tell visitors when an identifier is unknown or an email address is taken.",
    ),
    only_show_actual_login_methods: flag(false).describe(
      "Offer only the methods that the account has; discloses that it exists.",
    ),
  }),
  email,
  username,
  phone,
  password,
  passkey,
  mfa,
  third_party: thirdParty,
  saml,
  openid,
  console: operatorConsole,
  webauthn,
  session,
  well_known: wellKnown,
  passkey_server: passkeyServer,
  authenticator,
  theme,
  links,
  words,
  hosted: section({
    allowed_redirect_urls: redirectList().describe(
      "Addresses the hosted page may return to; * matches within a path segment, ** across segments; a query has to be in the entry.",
    ),
  }),
  rate_limiter: rateLimiter,
  security_notifications: securityNotifications,
  webhooks,
  audit_log: section({
    storage: section({
      enabled: flag(true).describe("Whether entries of the audit log are stored in the database."),
    }),
    console_output: section({
      enabled: flag(false).describe(
        "Whether entries of the audit log are written, one line of JSON each, once they are committed.",
      ),
      output: choice(["stdout", "stderr"], "stdout").describe(
        "Where they are written: standard output, beside the log, or standard error.",
      ),
    }),
    mask: flag(true).describe(
      "Whether email addresses and usernames are masked (j***@example.com), where entries are written and where they are shown.",
    ),
    mask_ip_addresses: flag(false).describe(
      "Whether IP addresses are shortened (IPv4 to /24, IPv6 to /48), where entries are written and where they are shown.",
    ),
    retention: seconds(30 * 86_400).describe("How long lines of the audit log are kept."),
    attempts_per_hour: count(100, 1).describe(
      "Failed sign-ins and the like recorded in an hour for one source (IPv4 address, IPv6 /64), or for one signed-in account. A last line tells that the limit is reached.",
    ),
  }),
  recorder: section({
    enabled: flag(true).describe(
      "Whether each step of a flow is recorded, without the values that users enter: what was performed, what was offered, and why the rest was not.",
    ),
    retention: seconds(7 * 86_400, { min: 3_600, max: 90 * 86_400 }).describe(
      "How long what is recorded from now on is kept.",
    ),
  }),
  funnel: section({
    retention: seconds(90 * 86_400, { min: 86_400, max: 400 * 86_400 }).describe(
      "How long the counts of the funnel and of the overview are kept.",
    ),
  }),
  jobs: section({
    secret: longSecret()
      .optional()
      .describe(
        "Bearer token of GET /api/jobs, which a scheduler calls where no process of Stile outlives a request. Default: none, and the address does not exist.",
      ),
    cron_secret: longSecret()
      .optional()
      .describe("A second such token, under the name that Vercel's scheduler uses. Default: none."),
  }),
  email_delivery: section({
    enabled: flag(true).describe(
      "Send mails. If not, each goes to the webhooks that are subscribed to email.send, and they have to send it.",
    ),
    from_address: z
      .email()
      .max(254)
      .default("noreply@localhost.localdomain")
      .describe("Sender's address of mails."),
    from_name: z
      .string()
      .max(MAX_SERVICE_NAME_CHARACTERS)
      .optional()
      .describe("Sender's name of mails. Default: service.name."),
  }),
  sms_delivery: smsDelivery,
});

type Tree = z.output<typeof configSchema>;

/** Where a setting of the server was read from. `platform`: what the platform tells of itself. */
export type SettingSource = "file" | "environment" | "platform";

/** The configuration as the server uses it: every default filled in, every derived value present. */
export type Config = Omit<Tree, "base_url" | "console" | "webauthn" | "passkey_server"> & {
  /** "production", or "development" for everything else. */
  mode: "production" | "development";
  /** Entries that are beyond a bound, and therefore not among the settings. */
  ignored: readonly IgnoredEntry[];
  /** Where the leaves that the operator has set were read from, by their paths, joined by dots. */
  sources: Readonly<Record<string, SettingSource>>;
  base_url: string;
  console: Tree["console"] & { host: string };
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

/** What reads the settings of the deployment. */
export interface Configured {
  config: Config;
}

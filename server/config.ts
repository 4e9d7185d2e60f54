import { readFileSync } from "node:fs";
import { isIP } from "node:net";
import { join, resolve } from "node:path";
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

/** A configuration that cannot be used. `message` is the one line that names the value. */
export class ConfigError extends Error {}

/** Names that stay plain in the environment; every other leaf is STILE_<SECTION>_<LEAF>. */
const plainNames = new Set(["port", "base_url", "database_url", "data_dir", "smtp_url", "secret_keys"]);

interface Leaf {
  path: string[];
  variable: string;
  type: "string" | "number" | "boolean" | "list" | "object";
  description: string;
  default: unknown;
}

interface JsonSchema {
  type?: string | string[];
  anyOf?: JsonSchema[];
  properties?: Record<string, JsonSchema>;
  description?: string;
  default?: unknown;
}

/** Every leaf of the tree, with the name of its environment variable; what the reference in `docs/` is made of. */
export function configLeaves(): Leaf[] {
  const walk = (schema: JsonSchema, path: string[]): Leaf[] =>
    Object.entries(schema.properties ?? {}).flatMap(([name, child]) => {
      const here = [...path, name];
      if (child.properties) return walk(child, here);
      const plain = here.length === 1 && plainNames.has(name);
      const variable = plain ? name.toUpperCase() : `STILE_${here.join("_").toUpperCase()}`;
      return [
        {
          path: here,
          variable,
          type: leafType(child),
          description: child.description ?? "",
          default: child.default,
        },
      ];
    });
  return walk(z.toJSONSchema(configSchema, { io: "input" }) as JsonSchema, []);
}

function leafType(schema: JsonSchema): Leaf["type"] {
  const types = [schema.type, ...(schema.anyOf ?? []).map((option) => option.type)].flat();
  if (types.includes("array")) return "list";
  if (types.includes("object")) return "object";
  if (types.includes("boolean")) return "boolean";
  if (types.includes("integer") || types.includes("number"))
    return types.includes("string") ? "string" : "number";
  return "string";
}

/**
 * Reads the configuration: defaults, then `stile.config.json` in `directory`, then the environment.
 *
 * @param environment variables, as in `process.env`; an empty value counts as absent
 * @param directory where `stile.config.json` is looked for
 * @throws ConfigError with one line that names the value at fault
 */
export function loadConfig(environment: Record<string, string | undefined>, directory: string): Config {
  const raw = merge(readFile(directory), readEnvironment(environment));
  const parsed = configSchema.safeParse(raw);
  if (!parsed.success) throw new ConfigError(describeIssue(parsed.error.issues[0]));
  const tree = parsed.data;
  const baseUrl = (tree.base_url ?? `http://localhost:${tree.port}`).replace(/\/+$/, "");
  const { hostname, origin } = new URL(baseUrl);
  const config: Config = {
    ...tree,
    mode: environment.NODE_ENV === "production" ? "production" : "development",
    data_dir: resolve(directory, tree.data_dir),
    base_url: baseUrl,
    webauthn: {
      ...tree.webauthn,
      relying_party: {
        id: tree.webauthn.relying_party.id ?? hostname,
        display_name: tree.webauthn.relying_party.display_name ?? tree.service.name,
        origins:
          tree.webauthn.relying_party.origins.length > 0 ? tree.webauthn.relying_party.origins : [origin],
      },
    },
  };
  refuseContradictions(config);
  return config;
}

function readFile(directory: string): Record<string, unknown> {
  const file = join(directory, "stile.config.json");
  let content: string;
  try {
    content = readFileSync(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return {};
    throw new ConfigError(`stile.config.json cannot be read: ${(error as Error).message}`);
  }
  try {
    const value: unknown = JSON.parse(content);
    if (isRecord(value)) return value;
  } catch (error) {
    throw new ConfigError(`stile.config.json is not JSON: ${(error as Error).message}`);
  }
  throw new ConfigError("stile.config.json does not hold an object");
}

function readEnvironment(environment: Record<string, string | undefined>): Record<string, unknown> {
  const leaves = configLeaves();
  const known = new Set(leaves.map((leaf) => leaf.variable));
  // A misspelt name that is silently ignored would leave a door as open as its default.
  const unknown = Object.keys(environment).find((name) => name.startsWith("STILE_") && !known.has(name));
  if (unknown) throw new ConfigError(`${unknown} is not a setting`);
  const tree: Record<string, unknown> = {};
  for (const leaf of leaves) {
    const value = environment[leaf.variable];
    if (value === undefined || value === "") continue;
    put(tree, leaf.path, parseVariable(leaf, value));
  }
  return tree;
}

function parseVariable(leaf: Leaf, value: string): unknown {
  const wrong = (what: string) => new ConfigError(`${leaf.variable} is not ${what}`);
  switch (leaf.type) {
    case "boolean":
      if (value !== "true" && value !== "false") throw wrong("true or false");
      return value === "true";
    case "number":
      if (!/^-?\d+$/.test(value)) throw wrong("a whole number");
      return Number(value);
    case "list":
      if (!value.trimStart().startsWith("["))
        return value
          .split(",")
          .map((part) => part.trim())
          .filter(Boolean);
      return parseJson(value, wrong("a comma separated list or a JSON array"));
    case "object":
      return parseJson(value, wrong("a JSON object"));
    case "string":
      return value;
  }
}

function parseJson(value: string, otherwise: ConfigError): unknown {
  try {
    return JSON.parse(value);
  } catch {
    throw otherwise;
  }
}

function put(tree: Record<string, unknown>, path: string[], value: unknown): void {
  const [name, ...rest] = path;
  if (name === undefined) return;
  if (rest.length === 0) {
    tree[name] = value;
    return;
  }
  const child = isRecord(tree[name]) ? tree[name] : {};
  tree[name] = child;
  put(child, rest, value);
}

function merge(base: Record<string, unknown>, over: Record<string, unknown>): Record<string, unknown> {
  const merged = { ...base };
  for (const [name, value] of Object.entries(over)) {
    const below = merged[name];
    merged[name] = isRecord(below) && isRecord(value) ? merge(below, value) : value;
  }
  return merged;
}

function describeIssue(issue: z.core.$ZodIssue | undefined): string {
  if (!issue) return "the configuration is not valid";
  const unknown = issue.code === "unrecognized_keys" ? issue.keys.slice(0, 1) : [];
  // An index into a list names no setting of its own.
  const path = [...issue.path, ...unknown].filter((part) => typeof part === "string");
  const leaf = configLeaves().find((candidate) => candidate.path.join(".") === path.join("."));
  const name = leaf ? `${leaf.variable} (${path.join(".")})` : path.join(".");
  return unknown.length > 0 ? `${name} is not a setting` : `${name}: ${issue.message}`;
}

/** What each leaf allows by itself but not together. */
function refuseContradictions(config: Config): void {
  const refuse = (message: string) => {
    throw new ConfigError(message);
  };
  if (config.username.min_length > config.username.max_length)
    refuse("STILE_USERNAME_MIN_LENGTH is greater than STILE_USERNAME_MAX_LENGTH");
  if (config.email.passcode_ttl > 600) refuse("STILE_EMAIL_PASSCODE_TTL is longer than 10 minutes");
  if (config.session.cookie.same_site === "none" && !config.base_url.startsWith("https:")) {
    refuse("STILE_SESSION_COOKIE_SAME_SITE none needs an https BASE_URL");
  }
  if (config.cors.allow_origins.includes("*"))
    refuse("STILE_CORS_ALLOW_ORIGINS * would let every site act for its visitors");
  if (config.mode === "production") {
    if (config.secret_keys.length === 0)
      refuse("SECRET_KEYS is missing: production needs at least one key of 16 characters");
  }
}

function isCidr(value: string): boolean {
  const [address = "", bits, ...rest] = value.split("/");
  const family = isIP(address);
  if (family === 0 || rest.length > 0) return false;
  return bits === undefined || (/^\d+$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128));
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

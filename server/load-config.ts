import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { z } from "zod";
import { type Config, configSchema } from "./config.ts";

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
  // One spelling: what is Secure is told from it, and browsers compare it with theirs.
  const { hostname, origin } = new URL(tree.base_url ?? `http://localhost:${tree.port}`);
  const config: Config = {
    ...tree,
    mode: environment.NODE_ENV === "production" ? "production" : "development",
    data_dir: resolve(directory, tree.data_dir),
    base_url: origin,
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
  refuseContradictions(config, tree.base_url);
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

/** What each leaf allows by itself but not together; each with the line that the start then stops with. */
function refuseContradictions(config: Config, baseUrl: string | undefined): void {
  const { username, email, session, cors, hosted, server, webauthn, mode, secret_keys } = config;
  const { protocol } = new URL(config.base_url);
  const { name, domain, same_site } = session.cookie;
  const hostBound = name.startsWith("__Host-");
  const contradictions: [boolean, string][] = [
    [
      baseUrl !== undefined && new URL(baseUrl).href !== `${config.base_url}/`,
      "BASE_URL has a path, a query or a user: it is an origin, like https://login.example.com",
    ],
    [
      username.min_length > username.max_length,
      "STILE_USERNAME_MIN_LENGTH is greater than STILE_USERNAME_MAX_LENGTH",
    ],
    [email.passcode_ttl > 600, "STILE_EMAIL_PASSCODE_TTL is longer than 10 minutes"],
    [
      same_site === "none" && protocol !== "https:",
      "STILE_SESSION_COOKIE_SAME_SITE none needs an https BASE_URL",
    ],
    [
      domain !== "" && !isWithin(config.base_url, domain.replace(/^\./, "")),
      "STILE_SESSION_COOKIE_DOMAIN is neither the host of BASE_URL nor a domain above it",
    ],
    [
      hostBound && (protocol !== "https:" || domain !== ""),
      "STILE_SESSION_COOKIE_NAME __Host- needs an https BASE_URL and no STILE_SESSION_COOKIE_DOMAIN",
    ],
    [
      !webauthn.relying_party.origins.some((origin) => isWithin(origin, webauthn.relying_party.id)),
      "STILE_WEBAUTHN_RELYING_PARTY_ID is neither the host of one of STILE_WEBAUTHN_RELYING_PARTY_ORIGINS nor a domain above it",
    ],
    [
      cors.allow_origins.includes("*"),
      "STILE_CORS_ALLOW_ORIGINS * would let every site act for its visitors",
    ],
    [
      !cors.allow_origins.every(isOrigin),
      "STILE_CORS_ALLOW_ORIGINS holds what is no origin, like https://app.example.com",
    ],
    [
      !hosted.allowed_redirect_urls.every((entry) => /^https?:\/\/[^/*]/.test(entry)),
      "STILE_HOSTED_ALLOWED_REDIRECT_URLS holds an entry without scheme and host",
    ],
    [
      server.hosts.some((host) => /[:/]/.test(host)),
      "STILE_SERVER_HOSTS holds more than a host name: no scheme, port or path",
    ],
    [config.mfa.enabled, "STILE_MFA_ENABLED is true, and there are no second factors yet"],
    [
      !config.password.enabled && !config.passkey.enabled && !(email.enabled && email.use_for_authentication),
      "STILE_PASSWORD_ENABLED, STILE_PASSKEY_ENABLED and STILE_EMAIL_USE_FOR_AUTHENTICATION are all false: nobody could sign in",
    ],
    [
      mode === "production" && secret_keys.length === 0,
      "SECRET_KEYS is missing: production needs at least one key of 16 characters",
    ],
  ];
  const found = contradictions.find(([holds]) => holds);
  if (found) throw new ConfigError(found[1]);
}

/** Whether an origin's host is this domain, or lies under it. */
function isWithin(origin: string, domain: string): boolean {
  if (!URL.canParse(origin)) return false;
  const { hostname } = new URL(origin);
  return hostname === domain || hostname.endsWith(`.${domain}`);
}

/** Exactly as browsers send it. */
function isOrigin(text: string): boolean {
  return URL.canParse(text) && new URL(text).origin === text;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

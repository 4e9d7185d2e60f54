import { ConfigError } from "../config/errors.ts";
import { merge, parseConfig } from "../config/load.ts";
import type { Config } from "../config/schema.ts";

/** A tree of settings by the names of the configuration. */
export type Settings = Record<string, unknown>;

/** What a tenant's configuration is made of, beside the server's. */
export interface TenantSettings {
  id: string;
  /** As its people know it; the name of its service unless its settings give another. */
  name: string;
  /** Host names of its own, the public one first; none for a tenant that is reached under `/t/{id}`. */
  hosts: readonly string[];
  /** What it wants otherwise than the server, secrets included. */
  settings: Settings;
}

/** Settings of the process: what they stand for exists once, or holds for everybody. */
const ofServer = [
  "port",
  "base_url",
  "database_url",
  "data_dir",
  "secret_keys",
  "tenant",
  "server",
  "database",
  "log",
  "jobs",
  "rate_limiter",
  "audit_log",
  "password.pepper",
  "password.hash",
];

/** Settings that name a tenant's own addresses, or whom it trusts. The server's are the default tenant's alone. */
const ofTenantAlone = [
  "cors",
  "hosted",
  "third_party",
  "saml",
  "session.issuer",
  "session.audience",
  "session.cookie.domain",
  "webauthn.relying_party",
  "webauthn.related_origins",
  "passkey_server.relying_party",
  "passkey_server.cors",
  "authenticator.app_id",
  "authenticator.facets",
  "authenticator.push_url",
  "authenticator.push_secret",
];

/**
 * A tenant's configuration: the server's, less what is the default tenant's alone, with the tenant's own settings
 * laid over it. Its base address, relying party and audience follow from its host name, or from its id.
 *
 * @throws ConfigError with one line that names the setting at fault
 */
export function tenantConfig(server: Config, { id, name, hosts, settings }: TenantSettings): Config {
  const foreign = ofServer.find((path) => has(settings, path.split(".")));
  if (foreign) throw new ConfigError(`${foreign} is a setting of the server: a tenant cannot have its own`);
  const { mode, data_dir, ...shared } = server;
  const inherited = ofTenantAlone.reduce<Settings>((tree, path) => without(tree, path.split(".")), shared);
  const own = { base_url: addressAt(hosts[0], server.base_url), service: { name } };
  const laid = merge(merge({ ...inherited, data_dir }, own), settings);
  const config = parseConfig(laid, { mode, directory: data_dir });
  return hosts.length > 0 ? config : underPath(config, id);
}

/** What is different where tenants share a host: the address, the audience of tokens, and the names of cookies. */
function underPath(config: Config, id: string): Config {
  const { session, mfa } = config;
  return {
    ...config,
    base_url: `${config.base_url}/t/${id}`,
    mfa: { ...mfa, device_trust_cookie_name: pathBound(mfa.device_trust_cookie_name) },
    session: {
      ...session,
      // Tenants of one host have one relying party id, which therefore tells none of them apart.
      audience: session.audience.length > 0 ? session.audience : [id],
      cookie: { ...session.cookie, name: pathBound(session.cookie.name) },
    },
  };
}

/** Browsers take a cookie of this prefix for the whole host or not at all (RFC 6265bis, 4.1.3.2). */
function pathBound(cookie: string): string {
  return cookie.replace(/^__Host-/, "__Secure-");
}

/** The server's own address under another host name. */
function addressAt(host: string | undefined, baseUrl: string): string {
  const address = new URL(baseUrl);
  if (host !== undefined) address.hostname = host;
  return address.origin;
}

function has(tree: Settings, [name = "", ...rest]: string[]): boolean {
  const child = tree[name];
  if (rest.length === 0) return child !== undefined;
  return isSettings(child) && has(child, rest);
}

function without(tree: Settings, [name = "", ...rest]: string[]): Settings {
  const { [name]: child, ...others } = tree;
  return rest.length > 0 && isSettings(child) ? { ...others, [name]: without(child, rest) } : others;
}

export function isSettings(value: unknown): value is Settings {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

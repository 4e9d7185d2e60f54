import { ConfigError } from "../config/errors.ts";
import { parseConfig } from "../config/load.ts";
import type { Config } from "../config/schema.ts";
import { serviceNameFault } from "../config/service-name.ts";
import { entryOf, type IgnoredEntry } from "../config/within-bounds.ts";
import { isTree, merge, type Tree, valueAt } from "../lib/tree.ts";

/** A tenant's own part of its configuration. */
export interface TenantSettings {
  id: string;
  /** Display name; the default of `service.name`. */
  name: string;
  /** The tenant's host names, the public one first; empty for a tenant that is served under `/t/{id}`. */
  hosts: readonly string[];
  /** Settings that override the server's, secrets included. */
  settings: Tree;
}

/** Settings of the process, which are the same for every tenant. */
const serverSettings = [
  "port",
  "base_url",
  "database_url",
  "data_dir",
  "secret_keys",
  "tenant",
  "server",
  "console",
  "database",
  "log",
  "backup",
  "metrics",
  "jobs",
  "rate_limiter",
  "audit_log",
  "funnel",
  "webhooks.allow_private_targets",
  "webhooks.retention",
  "openid.allow_private_targets",
  "openid.allow_private_logout_targets",
  "webauthn.metadata_file",
  "webauthn.metadata_roots",
  "authenticator.location_file",
  "password.pepper",
  "password.hash",
];

/** Whether a setting is one of the process. */
export function isServerSetting(path: readonly string[]): boolean {
  return isAmong(serverSettings, path);
}

/** A tenant's addresses and the parties it trusts. Other tenants do not inherit them from the server's configuration. */
const uninheritedSettings = [
  "cors",
  "embed",
  "hosted",
  "third_party",
  "saml",
  "openid",
  "session.issuer",
  "session.audience",
  "session.cookie.domain",
  "webauthn.relying_party",
  "webauthn.related_origins",
  "passkey_server.relying_party",
  "passkey_server.cors",
  "passkey_server.attestation_models",
  "well_known.apple_apps",
  "well_known.android_apps",
  "authenticator.app_id",
  "authenticator.facets",
  "authenticator.push_url",
  "authenticator.push_secret",
  "webhooks.hooks",
];

/** Whether tenants have the server's value of a setting that they do not set. */
export function isInherited(path: readonly string[]): boolean {
  return !isAmong(uninheritedSettings, path);
}

function isAmong(settings: readonly string[], path: readonly string[]): boolean {
  const name = path.join(".");
  return settings.some((setting) => name === setting || name.startsWith(`${setting}.`));
}

/**
 * Builds a tenant's configuration: the server's, without the default tenant's own settings, overridden by the tenant's
 * settings. Its base URL, relying party and audience derive from its host name, or from its id. Settings that this version
 * does not know, or leaves to the server, are ignored: a later one has stored them, and is used again or was taken back.
 *
 * @throws ConfigError with one line that names the invalid setting
 */
export function tenantConfig(server: Config, { id, name, hosts, settings }: TenantSettings): Config {
  const servers = serverSettings
    .map((setting) => setting.split("."))
    .filter((path) => valueAt(settings, path) !== undefined);
  const { mode, data_dir, ignored: _, sources: __, ...shared } = server;
  const inherited = uninheritedSettings.reduce<Tree>((tree, path) => without(tree, path.split(".")), shared);
  const fault = serviceNameFault(name);
  const service = { name: fault ? server.service.name : name };
  const own = { base_url: addressAt(hosts[0], server.base_url), service };
  const base = merge({ ...inherited, data_dir }, own);
  const over = servers.reduce<Tree>((tree, path) => without(tree, path), settings);
  const ofServer = servers.map((path) => serverSetting(path, valueAt(settings, path)));
  const parsed = parsedBeside(ofServer, () =>
    parseConfig({ base, over }, { mode, directory: data_dir, ignoreUnknown: true }),
  );
  const isNamed = valueAt(settings, ["service", "name"]) !== undefined;
  const unused = fault && !isNamed ? [unusedName(name, fault, service)] : [];
  const config = { ...parsed, ignored: [...unused, ...ofServer, ...parsed.ignored] };
  return hosts.length > 0 ? config : underPath(config, id);
}

/** Parses settings. An error of it names the entries that were left out before, too. */
function parsedBeside(ignored: readonly IgnoredEntry[], parse: () => Config): Config {
  try {
    return parse();
  } catch (error) {
    if (error instanceof ConfigError) throw new ConfigError(error.message, [...ignored, ...error.ignored]);
    throw error;
  }
}

/** A setting of the server as an entry that is not used: a later version may let tenants have their own. */
function serverSetting(path: string[], value: unknown): IgnoredEntry {
  const fault = `${path.join(".")} is a setting of the server: a tenant cannot have its own`;
  return { fault, line: `${fault}; it is ignored`, entry: entryOf(path, value), unknown: path };
}

/** The tenant's name as an entry that is not used: as the default of `service.name`, it is in its mails. */
function unusedName(name: string, fault: string, service: { name: string }): IgnoredEntry {
  return {
    fault: `the tenant's name ${fault}, as the default of service.name`,
    line: `the tenant's name ${fault}, as the default of service.name; pages and mails say ${service.name}`,
    entry: `name ${name}`,
  };
}

/** Adapts a configuration to a tenant on a shared host: base URL, audience of tokens, and names of cookies. */
function underPath(config: Config, id: string): Config {
  const { session, mfa } = config;
  return {
    ...config,
    base_url: `${config.base_url}/t/${id}`,
    mfa: { ...mfa, device_trust_cookie_name: pathBound(mfa.device_trust_cookie_name) },
    session: {
      ...session,
      // The default, the relying party id, is the same for all tenants of a host.
      audience: session.audience.length > 0 ? session.audience : [id],
      cookie: { ...session.cookie, name: pathBound(session.cookie.name) },
    },
  };
}

/** Browsers reject a `__Host-` cookie whose path is not `/` (RFC 6265bis, 4.1.3.2). */
function pathBound(cookie: string): string {
  return cookie.replace(/^__Host-/, "__Secure-");
}

/** Returns the server's origin with another host name. */
function addressAt(host: string | undefined, baseUrl: string): string {
  const address = new URL(baseUrl);
  if (host !== undefined) address.hostname = host;
  return address.origin;
}

function without(tree: Tree, [name = "", ...rest]: string[]): Tree {
  const { [name]: child, ...others } = tree;
  return rest.length > 0 && isTree(child) ? { ...others, [name]: without(child, rest) } : others;
}

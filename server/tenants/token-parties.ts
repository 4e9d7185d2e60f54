import { and, arrayOverlaps, inArray, ne, or, sql } from "drizzle-orm";
import { type Queryable, schema } from "#db/client";
import { ownHosts } from "../config/own-hosts.ts";
import type { Config } from "../config/schema.ts";
import type { Tenant } from "../config/tenant.ts";
import type { IgnoredEntry } from "../config/within-bounds.ts";
import { isUuid } from "../lib/uuid.ts";

/**
 * Issuer and audience of a tenant's tokens. Applications tell tenants apart by them, so those of a tenant never name
 * another tenant, or the service beside this tenant.
 */

const { tenants } = schema;

/** A setting that goes into the tokens, with one of its values. */
interface Party {
  setting: "session.issuer" | "session.audience" | "webauthn.relying_party.id";
  value: string;
  /** What it may name: a host name or the id of a tenant, in lower case. */
  name: string;
}

/** The relying party of a tenant, which is the default audience of its tokens; null if it has set none. */
const relyingParty = sql<string | null>`lower(${tenants.config} -> 'webauthn' -> 'relying_party' ->> 'id')`;

/**
 * Finds the values that name another tenant or another address of the service. Asks the database only for a tenant
 * that has set an issuer, an audience or a relying party.
 *
 * @param server the configuration of the server
 */
export async function foreignParties(
  database: Pick<Queryable, "select">,
  server: Config,
  { id, config }: Tenant,
): Promise<Party[]> {
  const parties = partiesOf(config).filter(({ value, name }) => !isOwn(value, name, id, config));
  if (parties.length === 0) return [];
  const names = parties.map(({ name }) => name);
  const ids = names.filter(isUuid);
  const found = await database
    .select({ id: tenants.id, hosts: tenants.hosts, relyingParty })
    .from(tenants)
    .where(
      and(
        ne(tenants.id, id),
        or(
          arrayOverlaps(tenants.hosts, names),
          inArray(relyingParty, names),
          ids.length > 0 ? inArray(tenants.id, ids) : undefined,
        ),
      ),
    );
  const addresses = new Set([...ownHosts(server), ...found.flatMap((other) => [other.id, ...other.hosts])]);
  const { session, webauthn } = server;
  const inTokens = new Set([
    ...[session.issuer, ...session.audience, webauthn.relying_party.id].map(nameIn),
    ...found.flatMap((other) => other.relyingParty ?? []),
  ]);
  // Tenants of one domain may share a relying party; it then is the audience of none of them by default.
  return parties.filter(
    ({ name, setting }) =>
      addresses.has(name) || (setting !== "webauthn.relying_party.id" && inTokens.has(name)),
  );
}

/** Returns a tenant whose tokens name no other one: values that do are ignored, and the defaults take their place. */
export function withoutForeign(tenant: Tenant, foreign: readonly Party[]): Tenant {
  if (foreign.length === 0) return tenant;
  const { id, config } = tenant;
  const isForeign = (setting: Party["setting"], value: string) =>
    foreign.some((party) => party.setting === setting && party.value === value);
  const { session } = config;
  const audience = session.audience.filter((value) => !isForeign("session.audience", value));
  const base = new URL(config.base_url);
  return {
    id,
    config: {
      ...config,
      ignored: [...config.ignored, ...foreign.map(ignoredParty)],
      session: {
        ...session,
        issuer: isForeign("session.issuer", session.issuer) ? "" : session.issuer,
        audience: audience.length > 0 ? audience : [base.pathname === "/" ? base.hostname : id],
      },
    },
  };
}

const ignoredParty = (party: Party): IgnoredEntry => ({
  fault: foreignFault(party),
  line: `${foreignFault(party)}; it is ignored`,
  entry: `${party.setting} ${party.value}`,
});

/** Says what is wrong with a value. */
export const foreignFault = ({ setting }: Party) =>
  `${setting}: must not name another tenant or another address of this service`;

/** The values that go into a tenant's tokens, as far as they are set. */
function partiesOf({ session, webauthn }: Config): Party[] {
  const { issuer, audience } = session;
  const values = [
    ...(issuer === "" ? [] : [{ setting: "session.issuer" as const, value: issuer }]),
    ...audience.map((value) => ({ setting: "session.audience" as const, value })),
    // The default audience.
    ...(audience.length > 0
      ? []
      : [{ setting: "webauthn.relying_party.id" as const, value: webauthn.relying_party.id }]),
  ];
  return values.map((party) => ({ ...party, name: nameIn(party.value) }));
}

/** Whether a value names the tenant itself. Below a path of the server's host names, its address has the path. */
function isOwn(value: string, name: string, id: string, { base_url }: Config): boolean {
  const own = new URL(base_url);
  if (name === id) return true;
  if (own.pathname === "/") return name === own.hostname;
  if (!URL.canParse(value)) return false;
  const { origin, pathname } = new URL(value);
  return origin === own.origin && (pathname === own.pathname || pathname.startsWith(`${own.pathname}/`));
}

/** The host name of an address, else the text itself without port and trailing dot. */
function nameIn(value: string): string {
  const text = value.trim().toLowerCase();
  const address = URL.canParse(text) ? new URL(text) : null;
  const host = address?.host ? address.hostname : (URL.parse(`https://${text}`)?.hostname ?? text);
  return host.replace(/\.$/, "");
}

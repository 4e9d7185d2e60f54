import { eq, type SQL, sql } from "drizzle-orm";
import { type ReadOnly, schema } from "#db/client";
import { shownNetwork } from "../audit/mask.ts";
import type { Tenant } from "../config/tenant.ts";
import { describeUserAgent, UNKNOWN_USER_AGENT } from "../lib/user-agent.ts";
import type { Location } from "../locations/location.ts";
import { applicationAccesses } from "./application-accesses.ts";

/** What belongs to an account beside its credentials and sessions. Times are RFC 3339. */
export interface Belongings {
  /** Unused recovery codes. */
  recoveryCodesLeft: number;
  /** Authenticators (UAF) of the account, oldest first. */
  phones: Phone[];
  /** Browsers that skip the second factor, the one that was used last first. */
  trustedBrowsers: TrustedBrowser[];
  /** Sign-ins of the last `SIGN_IN_DAYS`, newest first: at most `MAX_SIGN_INS`, and `MAX_FAILED_SIGN_INS` that failed. */
  signIns: SignIn[];
  /** Applications that the user has signed in to by OpenID Connect, the first one first. */
  applications: Application[];
}

export interface Application {
  /** The client id. */
  id: string;
  /** What it said of itself when it was allowed (`openid_consents.application`); null if the operator has listed it. */
  application: unknown;
  /** What the user has allowed (`openid_consents.allowed`); null for the operator's own clients, which need no consent. */
  allowed: unknown;
  /** When the user has allowed it, or signed in to it first. */
  since: string;
}

export interface Phone {
  id: string;
  name: string;
  /** Manufacturer and model, as the app stated them. */
  model?: string;
  created_at: string;
  last_used_at: string;
}

export interface TrustedBrowser extends Place {
  /** Changes with each use. */
  id: string;
  last_used_at: string;
  expires_at: string;
}

export interface SignIn extends Place {
  id: string;
  at: string;
  outcome: "success" | "failure";
  /** The factors that were proved, or the one that failed; absent if they are not known. */
  methods?: string[];
}

/** Where something was done. */
export interface Place {
  /** Readable form: `macOS (Safari)`; absent if it is not known. */
  user_agent?: string;
  /** The network of the client, as `shownNetwork` writes it. */
  ip_address?: string;
  /** Where the network is, by English names, if the operator has a database of places. */
  location?: Location;
}

/** Finds the place of an address; null if it is unknown. */
export type Locate = (address: string) => Location | null;

const SIGN_IN_DAYS = 30;
const MAX_SIGN_INS = 10;

/** Apart from the others, so that strangers who fail push no sign-in out. */
const MAX_FAILED_SIGN_INS = 5;

const DAY_MS = 24 * 60 * 60 * 1000;

type StoredSignIn = Omit<Stored<SignIn>, "methods"> & { methods: string[] | null };

type Stored<Item> = Omit<Item, keyof Place | `${string}_at` | "at"> & {
  times: Record<string, string>;
  userAgent?: string | null;
  ipAddress?: string | null;
};

/**
 * Reads what belongs to an account, in one round trip. Sign-ins are those of the audit log; if it is not stored, those
 * whose sessions are.
 *
 * @param db a pool, or the transaction that has just changed the account
 */
export async function readBelongings(
  db: ReadOnly,
  tenant: Pick<Tenant, "id" | "config">,
  userId: string,
  now: Date,
  locate: Locate,
): Promise<Belongings> {
  const { users } = schema;
  const own = sql`o.tenant_id = ${tenant.id} and o.user_id = ${userId}`;
  const since = new Date(now.getTime() - SIGN_IN_DAYS * DAY_MS).toISOString();
  const audited = (outcome: SignIn["outcome"], methods: SQL, isOne: SQL, limit: number) => sql`(
    select o.id, o.created_at, o.user_agent, o.ip_address, ${outcome} as outcome, ${methods} as methods
    from audit_logs o
    where o.tenant_id = ${tenant.id} and coalesce(o.user_id::text, o.details ->> 'actor_user_id') = ${userId}
      and o.created_at > ${since}::timestamptz and (${isOne})
    order by o.created_at desc, o.id desc limit ${limit})`;
  const isSuccess = sql`o.type = 'login_success' or (o.type = 'user_created' and o.details ? 'methods')`;
  const failed = sql`jsonb_build_array(o.details -> 'method')`;
  const signIns = tenant.config.audit_log.storage.enabled
    ? sql`${audited("success", sql`o.details -> 'methods'`, isSuccess, MAX_SIGN_INS)} union all
        ${audited("failure", failed, sql`o.type = 'login_failure'`, MAX_FAILED_SIGN_INS)}`
    : sql`
        select o.id, o.created_at, o.user_agent, o.ip_address, 'success' as outcome, null::jsonb as methods
        from sessions o
        where ${own} and o.created_at > ${since}::timestamptz and o.impersonation is null
        order by o.created_at desc, o.id desc limit ${MAX_SIGN_INS}`;
  const applications = tenant.config.openid.enabled ? applicationAccesses(own, now) : null;
  const [row] = await db
    .select({
      recoveryCodesLeft: sql<number>`(select count(*)::int from recovery_codes o where ${own})`,
      phones: sql<(Stored<Phone> & { model: string | null })[]>`(
        select coalesce(json_agg(json_build_object('id', o.id, 'name', o.key_name,
            'model', nullif(concat_ws(' ', o.manufacturer, o.model), ''),
            'times', json_build_object('created_at', o.created_at, 'last_used_at', o.last_used_at))
          order by o.created_at, o.id), '[]')
        from authenticator_devices o where o.tenant_id = ${tenant.id} and o.user_id = ${userId})`,
      trustedBrowsers: sql<Stored<TrustedBrowser>[]>`(
        select coalesce(json_agg(json_build_object('id', o.id, 'userAgent', o.user_agent, 'ipAddress', o.ip_address,
            'times', json_build_object('last_used_at', o.created_at, 'expires_at', o.expires_at))
          order by o.created_at desc, o.id), '[]')
        from trusted_devices o
        where ${own} and o.replaced_at is null and o.expires_at > ${now.toISOString()}::timestamptz)`,
      signIns: sql<StoredSignIn[]>`(
        select coalesce(json_agg(json_build_object('id', o.id, 'userAgent', o.user_agent, 'ipAddress', o.ip_address,
            'outcome', o.outcome, 'methods', o.methods, 'times', json_build_object('at', o.created_at))
          order by o.created_at desc, o.id desc), '[]')
        from (${signIns}) o)`,
      applications: applications
        ? sql<Application[]>`(
        select coalesce(json_agg(json_build_object('id', o.client_id, 'application', o.application, 'allowed', o.allowed, 'since', o.since)
          order by o.since, o.client_id), '[]')
        from (${applications}) o)`
        : sql<Application[]>`'[]'::json`,
    })
    .from(users)
    .where(sql`${eq(users.tenantId, tenant.id)} and ${eq(users.id, userId)}`);
  if (!row) return { recoveryCodesLeft: 0, phones: [], trustedBrowsers: [], signIns: [], applications: [] };
  return {
    recoveryCodesLeft: row.recoveryCodesLeft,
    phones: row.phones.map(({ model, ...phone }) => ({
      ...described<Phone>(phone, locate),
      ...(model === null ? {} : { model }),
    })),
    trustedBrowsers: row.trustedBrowsers.map((browser) => described<TrustedBrowser>(browser, locate)),
    signIns: row.signIns.map(({ methods, ...signIn }) => ({
      ...described<SignIn>(signIn, locate),
      ...(methods === null ? {} : { methods: methods.filter((method) => method !== null) }),
    })),
    applications: row.applications.map(({ since, ...application }) => ({
      ...application,
      since: new Date(since).toISOString(),
    })),
  };
}

function described<Item>({ times, userAgent, ipAddress, ...rest }: Stored<Item>, locate: Locate): Item {
  const moments = Object.entries(times).map(([name, time]) => [name, new Date(time).toISOString()]);
  return { ...rest, ...Object.fromEntries(moments), ...placeOf({ userAgent, ipAddress }, locate) } as Item;
}

/** Describes where something was done, the address only by its network. */
export function placeOf(
  { userAgent, ipAddress }: { userAgent?: string | null | undefined; ipAddress?: string | null | undefined },
  locate: Locate,
): Place {
  const location = ipAddress ? locate(ipAddress) : null;
  const browser = userAgent ? describeUserAgent(userAgent) : UNKNOWN_USER_AGENT;
  return {
    ...(browser === UNKNOWN_USER_AGENT ? {} : { user_agent: browser }),
    ...(ipAddress ? { ip_address: shownNetwork(ipAddress) } : {}),
    ...(location ? { location } : {}),
  };
}

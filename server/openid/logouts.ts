import { sql } from "drizzle-orm";
import { z } from "zod";
import type { Databases } from "#db/client";
import { databaseNow } from "#db/clock";
import { isDistributed } from "#db/distribution";
import { executePrepared } from "#db/prepared";
import { logoutAddress } from "../config/logout-channels.ts";
import type { Config } from "../config/schema.ts";
import type { Tenant } from "../config/tenant.ts";
import { forReachableTenants } from "../database/reachable-tenants.ts";
import { clientReceiverId } from "../events/config-webhooks.ts";
import type { Signing } from "../keys/tenant-signing-keys.ts";
import type { OnPlatform } from "../lib/platform.ts";
import type { Tenants } from "../tenants/tenants.ts";
import { subjectFor } from "./subjects.ts";

/** The name of the event of the end of a client's session. Only that client gets it. */
const LOGOUT_EVENT = "oauth.logout";

/** Sessions that are told of at once: of so many tenants, so many each. */
const MAX_TENANTS = 50;
const MAX_OF_TENANT = 100;

/** Time between two searches for sessions that have ended in a distributed database. */
const SEARCH_INTERVAL_MS = 60_000;

/** The longest life that is recommended (OpenID Connect Back-Channel Logout 1.0, 2.4). */
const LIFETIME_SECONDS = 120;

const LOGOUT = "http://schemas.openid.net/event/backchannel-logout";

/** The data of such an event. */
const ended = z.object({ client_id: z.string(), sub: z.string(), sid: z.string() });

/** What this module takes of the process. */
type Process = Databases & OnPlatform & Signing & { tenants: Pick<Tenants, "byId"> };

/**
 * Tells clients that sessions of theirs have ended (OpenID Connect Back-Channel Logout 1.0). Each end is an event with one
 * delivery, which is attempted, repeated, kept and listed as those of webhooks are.
 */
export function createLogouts({ database, platform, signingKeys, tenants }: Process) {
  let searchedAt = Number.NEGATIVE_INFINITY;

  /** Returns the clients of a tenant that are told in the browser alone: their rows end without a delivery. */
  async function clientsToldInBrowserAlone(tenantId: string): Promise<string[]> {
    // Deliveries of a tenant that this process cannot read wait for one that can.
    const tenant = await tenants.byId(tenantId).catch(() => null);
    return Object.keys(tenant?.config.openid.clients ?? {}).filter(
      (id) => tenant && isToldInBrowserAlone(tenant.config, id),
    );
  }

  /** Makes deliveries of the sessions of a tenant that have ended. */
  async function deliverOf(tenantId: string): Promise<number> {
    const toldInBrowserAlone = await clientsToldInBrowserAlone(tenantId);
    const now = databaseNow(platform.clockShift());
    const ofTenant = sql`${tenantId}::uuid`;
    const told = await executePrepared<{ id: string }, "claim">(
      database,
      "claim",
      "claim_logouts",
      sql`
      -- A tenant that is being deleted is passed over.
      with held as materialized (select id from tenants where id = ${ofTenant} for key share skip locked),
      due as materialized (
        select * from (
          select client_id, sid from openid_sign_ins
          where tenant_id = ${ofTenant} and session_id is null and exists (select 1 from held)
          order by created_at limit ${MAX_OF_TENANT}::int for update skip locked) locked),
      ended as (
        delete from openid_sign_ins s using due
        where s.tenant_id = ${ofTenant} and s.client_id = due.client_id and s.sid = due.sid
        returning s.*),
      told as (
        insert into events (tenant_id, id, name, data, created_at)
        select ${ofTenant}, gen_random_uuid(), ${LOGOUT_EVENT},
          jsonb_build_object('client_id', client_id, 'sub', user_id, 'sid', sid), ${now} from ended
        where client_id <> all (${sql.param(toldInBrowserAlone)}::text[])
        returning id, sequence, data)
      insert into webhook_deliveries (tenant_id, id, webhook, event_id, sequence, due_at, created_at)
      select ${ofTenant}, gen_random_uuid(), ${clientReceiverId("")} || (data ->> 'client_id'), id, sequence, ${now}, ${now}
      from told
      returning id`,
    );
    return told.length;
  }

  return {
    /**
     * Makes deliveries of the sessions that have ended, of all tenants. Several processes may run it concurrently.
     *
     * @returns the number of deliveries
     */
    async deliver(): Promise<number> {
      if ((await isDistributed(database)) && performance.now() - searchedAt > SEARCH_INTERVAL_MS) {
        searchedAt = performance.now();
        await markEnded(database);
      }
      const tenantIds = await tenantsWithEnded(database);
      if (tenantIds.length === 0) return 0;
      const told = await Promise.all(tenantIds.map(deliverOf));
      return told.reduce((sum, ofTenant) => sum + ofTenant, 0);
    },
    /**
     * Makes the request of a delivery (2.5). Its token is made for each attempt, because it lives for two minutes.
     *
     * @param data of the event
     * @param now by the database's clock
     * @returns null if the client is not told any more
     */
    async request(
      tenant: Tenant,
      data: unknown,
      now: Date,
    ): Promise<{ callback: string; headers: Record<string, string>; body: string } | null> {
      const { client_id, sub, sid } = ended.parse(data);
      const callback = tenant.config.openid.enabled
        ? logoutAddress(tenant.config, client_id, "backchannel_logout_uri")
        : null;
      if (callback === null) return null;
      const iat = Math.floor(now.getTime() / 1000);
      const claims = {
        iss: tenant.config.base_url,
        aud: client_id,
        sub: subjectFor(tenant.config, client_id, sub),
        sid,
        iat,
        exp: iat + LIFETIME_SECONDS,
        jti: platform.uuid(),
        events: { [LOGOUT]: {} },
      };
      const token = await signingKeys.of(tenant).sign(claims, { typ: "logout+jwt" });
      return {
        callback,
        headers: { "content-type": "application/x-www-form-urlencoded", "user-agent": "Stile" },
        body: new URLSearchParams({ logout_token: token }).toString(),
      };
    },
  };
}

/** Does what a foreign key does where the database is not distributed: Citus takes none that sets a column null. */
async function markEnded({ claim }: Databases["database"]): Promise<void> {
  await claim.execute(sql`
    update openid_sign_ins s set session_id = null
    where s.session_id is not null and not exists (
      select 1 from sessions where sessions.tenant_id = s.tenant_id and sessions.id = s.session_id)`);
}

/** Reads one row of each such tenant. */
const headsOfTenants = sql`recursive heads as (
  (select tenant_id from openid_sign_ins where session_id is null order by tenant_id limit 1)
  union all
  select n.tenant_id from heads h cross join lateral (
    select tenant_id from openid_sign_ins where session_id is null and tenant_id > h.tenant_id
    order by tenant_id limit 1) n)`;

/** Returns tenants that have sessions which have ended, at random: they take turns. */
async function tenantsWithEnded(database: Databases["database"]): Promise<string[]> {
  if (await isDistributed(database)) return tenantsOfNodesWithEnded(database);
  const rows = await executePrepared<{ tenant_id: string }, "claim">(
    database,
    "claim",
    "find_logouts",
    sql`with ${headsOfTenants} select tenant_id from heads order by random() limit ${MAX_TENANTS}::int`,
  );
  return rows.map(({ tenant_id }) => tenant_id);
}

/** The same where each node finds its own. */
async function tenantsOfNodesWithEnded(database: Databases["database"]): Promise<string[]> {
  const { rows } = await forReachableTenants(database, (within) =>
    database.claim.execute<{ tenant_id: string }>(sql`
      select tenant_id from openid_sign_ins where session_id is null and ${within(sql`tenant_id`)}
      group by tenant_id order by random() limit ${MAX_TENANTS}::int`),
  );
  return rows.map(({ tenant_id }) => tenant_id);
}

/** One that is unknown here may be told by the configuration of another process. */
const isToldInBrowserAlone = (config: Config, clientId: string) =>
  logoutAddress(config, clientId, "backchannel_logout_uri") === null &&
  logoutAddress(config, clientId, "frontchannel_logout_uri") !== null;

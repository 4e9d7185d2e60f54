import { sql } from "drizzle-orm";
import { z } from "zod";
import type { Databases } from "#db/client";
import { databaseNow } from "#db/clock";
import type { Tenant } from "../config/tenant.ts";
import { clientReceiverId } from "../events/config-webhooks.ts";
import type { Signing } from "../keys/tenant-signing-keys.ts";
import type { OnPlatform } from "../lib/platform.ts";
import { logoutAddress } from "./sign-ins.ts";
import { subjectFor } from "./subjects.ts";

/** The name of the event of the end of a client's session. Only that client gets it. */
const LOGOUT_EVENT = "oauth.logout";

/** Sessions that are told of in one statement. */
const MAX_ENDED = 500;

/** The longest life that is recommended (OpenID Connect Back-Channel Logout 1.0, 2.4). */
const LIFETIME_SECONDS = 120;

const LOGOUT = "http://schemas.openid.net/event/backchannel-logout";

/** The data of such an event. */
const ended = z.object({ client_id: z.string(), sub: z.string(), sid: z.string() });

/**
 * Tells clients that sessions of theirs have ended (OpenID Connect Back-Channel Logout 1.0). Each end is an event with one
 * delivery, which is attempted, repeated, kept and listed as those of webhooks are.
 */
export function createLogouts({ database, platform, signingKeys }: Databases & OnPlatform & Signing) {
  return {
    /**
     * Makes deliveries of the sessions that have ended, of all tenants. Several processes may run it concurrently.
     *
     * @returns the number of deliveries
     */
    async deliver(): Promise<number> {
      const now = databaseNow(platform.clockShift());
      const { rowCount } = await database.claim.execute(sql`
      with found as (
        select tenant_id, client_id, sid from openid_sign_ins where session_id is null
        order by created_at limit ${MAX_ENDED}::int),
      -- Locked first, as by the deletion of a tenant: events refer to it.
      held as materialized (
        select id from tenants where id in (select tenant_id from found) order by id for key share),
      due as materialized (
        select s.tenant_id, s.client_id, s.sid from held
        join found on found.tenant_id = held.id join openid_sign_ins s using (tenant_id, client_id, sid)
        where s.session_id is null for update of s skip locked),
      ended as (
        delete from openid_sign_ins s using due
        where s.tenant_id = due.tenant_id and s.client_id = due.client_id and s.sid = due.sid
        returning s.*),
      told as (
        insert into events (tenant_id, id, name, data, created_at)
        select tenant_id, gen_random_uuid(), ${LOGOUT_EVENT},
          jsonb_build_object('client_id', client_id, 'sub', user_id, 'sid', sid), ${now} from ended
        returning tenant_id, id, sequence, data)
      insert into webhook_deliveries (tenant_id, id, webhook, event_id, sequence, due_at, created_at)
      select tenant_id, gen_random_uuid(), ${clientReceiverId("")} || (data ->> 'client_id'), id, sequence, ${now}, ${now}
      from told`);
      return rowCount ?? 0;
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
      const callback = tenant.config.openid.enabled ? logoutAddress(tenant.config, client_id) : null;
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

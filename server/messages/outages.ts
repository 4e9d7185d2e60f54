import { eq } from "drizzle-orm";
import type { ReadOnly } from "#db/client";
import { type WriteOfParts, writeOf } from "#db/write";
import type { Tenant } from "../config/tenant.ts";
import { type ChannelName, channels } from "./channels.ts";

/**
 * Which mail servers and SMS services take no messages now, in the database: another process than the one that is asked
 * may send the messages.
 */

/** Returns whose server sends a tenant's messages: the tenant's own, or the default tenant's. */
export function serverOf(channel: ChannelName, tenant: Tenant, defaultTenant: Tenant): string {
  const { server } = channels[channel];
  return server(tenant.config) === server(defaultTenant.config) ? defaultTenant.id : tenant.id;
}

/** The write after a failed attempt. An outage lasts since its first one. */
export function outageBegins(
  channel: ChannelName,
  outage: { server: string; failure: string; at: Date },
): WriteOfParts {
  return writeOf({
    name: `${channel}_outage_began`,
    text: `outage_began as (
      insert into ${channel}_outages (tenant_id, since, last_failed_at, failure)
      select id, $2::timestamptz, $2::timestamptz, $3::text from tenants where id = $1::uuid
      on conflict (tenant_id) do update set last_failed_at = excluded.last_failed_at, failure = excluded.failure)`,
    values: [outage.server, outage.at, outage.failure],
  });
}

/**
 * The write after an accepted message. Several of one statement are one.
 *
 * @param ended called after the commit if it has ended an outage, once for it, with the time since when that lasted
 */
export function outageEnds(
  channel: ChannelName,
  server: string,
  ended: (since: string) => void,
): WriteOfParts {
  const part = {
    name: `${channel}_outage_ended`,
    // Locked in one order: another process may end the same ones.
    text: `outage_ended as (
      delete from ${channel}_outages where tenant_id in (
        select tenant_id from ${channel}_outages
        where tenant_id in (select server from jsonb_to_recordset($1::jsonb) as i (server uuid))
        order by tenant_id for update)
      returning tenant_id, since)`,
    values: { rows: [{ server }] },
    returns: "(select jsonb_object_agg(tenant_id, since) from outage_ended)",
  };
  const committed = ({ [part.name]: returned }: { [name: string]: unknown }) => {
    const outages = returned as Record<string, string> | null;
    const since = outages?.[server];
    if (!outages || since === undefined) return;
    delete outages[server];
    ended(since);
  };
  return Object.assign(writeOf(part), { committed });
}

export interface Outage {
  /** Time of the first attempt that failed. */
  since: Date;
  lastFailedAt: Date;
  /** What the last attempt failed with, for instance `ECONNREFUSED`. */
  failure: string;
}

/** Returns the outage of a server; null if it accepted the last message, or none was sent yet. */
export async function outageOf(db: ReadOnly, channel: ChannelName, server: string): Promise<Outage | null> {
  const { outages: table } = channels[channel];
  const [row] = await db
    .select({ since: table.since, lastFailedAt: table.lastFailedAt, failure: table.failure })
    .from(table)
    .where(eq(table.tenantId, server));
  return row ?? null;
}

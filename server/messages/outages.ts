import { eq } from "drizzle-orm";
import { type ReadOnly, schema } from "#db/client";
import { type WriteOfParts, writeOf } from "#db/write";
import type { Config } from "../config/schema.ts";
import type { Tenant } from "../config/tenant.ts";

/**
 * Which mail servers and SMS services take no messages now, in the database: another process than the one that is asked
 * may send the messages.
 */

/** A way by which messages reach their recipients. */
export type ChannelName = "mail" | "sms";

const tables = { mail: schema.mailOutages, sms: schema.smsOutages } as const;

/** The settings that say which server sends the messages. */
const serverSettings: Record<ChannelName, (config: Config) => string | undefined> = {
  mail: ({ smtp_url }) => smtp_url,
  sms: ({ sms_delivery: { url, account_sid } }) => account_sid && `${url} ${account_sid}`,
};

/** Returns whose server sends a tenant's messages: the tenant's own, or the default tenant's. */
export function serverOf(channel: ChannelName, tenant: Tenant, defaultTenant: Tenant): string {
  const settings = serverSettings[channel];
  return settings(tenant.config) === settings(defaultTenant.config) ? defaultTenant.id : tenant.id;
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

/** The write after an accepted message. Returns since when the outage lasted that it ends, if there was one. */
export function outageEnds(channel: ChannelName, server: string): WriteOfParts {
  return writeOf({
    name: `${channel}_outage_ended`,
    text: `outage_ended as (delete from ${channel}_outages where tenant_id = $1::uuid returning since)`,
    values: [server],
    returns: "(select since from outage_ended)",
  });
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
  const table = tables[channel];
  const [row] = await db
    .select({ since: table.since, lastFailedAt: table.lastFailedAt, failure: table.failure })
    .from(table)
    .where(eq(table.tenantId, server));
  return row ?? null;
}

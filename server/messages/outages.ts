import { eq } from "drizzle-orm";
import { type ReadOnly, schema } from "#db/client";
import { type WriteOfParts, writeOf } from "#db/write";
import type { Tenant } from "../config/tenant.ts";

/**
 * Which mail servers take no mails now, in the database: another process than the one that is asked may send the mails.
 */

const { mailOutages } = schema;

/** Returns whose mail server sends a tenant's mails: the tenant's own, or the default tenant's. */
export function mailServerOf(tenant: Tenant, defaultTenant: Tenant): string {
  return tenant.config.smtp_url === defaultTenant.config.smtp_url ? defaultTenant.id : tenant.id;
}

/** The write after a failed attempt. An outage lasts since its first one. */
export function outageBegins(outage: { server: string; failure: string; at: Date }): WriteOfParts {
  return writeOf({
    name: "outage_began",
    text: `outage_began as (
      insert into mail_outages (tenant_id, since, last_failed_at, failure)
      select id, $2::timestamptz, $2::timestamptz, $3::text from tenants where id = $1::uuid
      on conflict (tenant_id) do update set last_failed_at = excluded.last_failed_at, failure = excluded.failure)`,
    values: [outage.server, outage.at, outage.failure],
  });
}

/** The write after an accepted mail. Returns since when the outage lasted that it ends, if there was one. */
export function outageEnds(server: string): WriteOfParts {
  return writeOf({
    name: "outage_ended",
    text: "outage_ended as (delete from mail_outages where tenant_id = $1::uuid returning since)",
    values: [server],
    returns: "(select since from outage_ended)",
  });
}

export interface MailOutage {
  /** Time of the first attempt that failed. */
  since: Date;
  lastFailedAt: Date;
  /** What the last attempt failed with, for instance `ECONNREFUSED`. */
  failure: string;
}

/** Returns the outage of a mail server; null if it accepted the last mail, or none was sent yet. */
export async function mailOutageOf(db: ReadOnly, server: string): Promise<MailOutage | null> {
  const [row] = await db
    .select({
      since: mailOutages.since,
      lastFailedAt: mailOutages.lastFailedAt,
      failure: mailOutages.failure,
    })
    .from(mailOutages)
    .where(eq(mailOutages.tenantId, server));
  return row ?? null;
}

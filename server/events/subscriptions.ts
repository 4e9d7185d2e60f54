import { and, eq, type SQL, sql } from "drizzle-orm";
import { type ReadOnly, schema } from "#db/client";
import { prepared } from "#db/prepared";
import type { Tenant } from "../config/tenant.ts";
import { configWebhooks } from "./config-webhooks.ts";
import { type EventName, subscriptionsCovering } from "./events.ts";

const { webhooks } = schema;

/** Ids of the webhooks of a tenant's configuration that are subscribed to an event. */
export function subscribedConfigWebhooks({ config }: Tenant, name: EventName): string[] {
  const coveredBy = subscriptionsCovering(name);
  return configWebhooks(config)
    .filter(({ events }) => events.some((subscription) => coveredBy.includes(subscription)))
    .map(({ id }) => id);
}

/**
 * Returns the condition that a stored webhook `w` gets an event.
 *
 * @param coveredBy `text[]`, the subscriptions that cover it
 * @param expires `boolean`, whether webhooks end at their expiry; a listener always does
 */
export function isSubscribed(coveredBy: SQL, expires: SQL): SQL {
  return sql`(w.enabled and (w.expires_at > now() or not (w.is_listener or ${expires}))
    and exists (select 1 from jsonb_array_elements(w.events) s where s ->> 'event' = any(${coveredBy})))`;
}

const anySubscriber = prepared("event_subscriber", (db) => {
  const coveredBy = sql`${sql.placeholder("coveredBy")}::text[]`;
  const expires = sql`${sql.placeholder("expires")}::boolean`;
  return db
    .select({ id: sql`w.id` })
    .from(sql`${webhooks} w`)
    .where(and(eq(sql`w.tenant_id`, sql.placeholder("tenantId")), isSubscribed(coveredBy, expires)))
    .limit(1);
});

/** Whether a webhook of the tenant, stored or of its configuration, gets an event. */
export async function hasSubscriber(db: ReadOnly, tenant: Tenant, name: EventName): Promise<boolean> {
  if (subscribedConfigWebhooks(tenant, name).length > 0) return true;
  const [found] = await anySubscriber(db).execute({
    tenantId: tenant.id,
    coveredBy: subscriptionsCovering(name),
    expires: tenant.config.webhooks.allow_time_expiration,
  });
  return found !== undefined;
}

import { and, eq, type SQL, sql } from "drizzle-orm";
import { type ReadOnly, schema } from "#db/client";
import type { Tenant } from "../tenants/tenant.ts";
import { configWebhooks } from "../webhooks/config-webhooks.ts";
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
    and exists (select from jsonb_array_elements(w.events) s where s ->> 'event' = any(${coveredBy})))`;
}

/** Whether a webhook of the tenant, stored or of its configuration, gets an event. */
export async function hasSubscriber(db: ReadOnly, tenant: Tenant, name: EventName): Promise<boolean> {
  if (subscribedConfigWebhooks(tenant, name).length > 0) return true;
  const w = sql`${webhooks} w`;
  const coveredBy = sql`${sql.param(subscriptionsCovering(name))}::text[]`;
  const expires = sql`${tenant.config.webhooks.allow_time_expiration}::boolean`;
  const [found] = await db
    .select({ id: sql`w.id` })
    .from(w)
    .where(and(eq(sql`w.tenant_id`, tenant.id), isSubscribed(coveredBy, expires)))
    .limit(1);
  return found !== undefined;
}

import { randomUUID } from "node:crypto";
import { and, asc, eq, gt } from "drizzle-orm";
import { schema } from "#db/client";
import type { TestRuntime } from "./runtime.ts";

const { events, webhookDeliveries, webhooks } = schema;

type OfTenant = Pick<TestRuntime, "database"> & { tenant: Pick<TestRuntime["tenant"], "id"> };

/** Stores a webhook, by default one that is subscribed to every event. Returns its id. */
export async function storeWebhook(
  { database, tenant }: OfTenant,
  subscriptions: readonly string[] = ["user", "session", "oauth", "email.send", "sms.send"],
  row: Partial<typeof webhooks.$inferInsert> = {},
): Promise<string> {
  const id = randomUUID();
  await database.write.insert(webhooks).values({
    tenantId: tenant.id,
    id,
    callback: `https://example.com/${id}`,
    expiresAt: new Date(Date.now() + 86_400_000),
    events: subscriptions.map((event) => ({ id: randomUUID(), event })),
    sealedSecret: Buffer.of(1),
    ...row,
  });
  return id;
}

/** An event as it is stored. */
export type StoredEvent = typeof events.$inferSelect;

/** Reads the events of a tenant in their order. `after`: those with a greater sequence only. */
export function storedEvents({ database, tenant }: OfTenant, after = 0): Promise<StoredEvent[]> {
  return database.read
    .select()
    .from(events)
    .where(and(eq(events.tenantId, tenant.id), gt(events.sequence, after)))
    .orderBy(asc(events.sequence));
}

/** Reads the deliveries of a webhook in the order of their events. */
export function storedDeliveries({ database, tenant }: OfTenant, webhook: string) {
  return database.read
    .select()
    .from(webhookDeliveries)
    .where(and(eq(webhookDeliveries.tenantId, tenant.id), eq(webhookDeliveries.webhook, webhook)))
    .orderBy(asc(webhookDeliveries.sequence));
}

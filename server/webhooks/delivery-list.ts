import { and, asc, count, desc, eq, gte, inArray, lt, type SQL, sql } from "drizzle-orm";
import { type Databases, schema } from "#db/client";
import type { OnPlatform } from "../lib/platform.ts";

const { events, webhookAttempts, webhookDeliveries } = schema;

type Attempt = typeof webhookAttempts.$inferSelect;

/** A delivery with its event and every attempt. */
export type ListedDelivery = typeof webhookDeliveries.$inferSelect & {
  /** Null if the event is purged. */
  event: string | null;
  flowId: string | null;
  /** Of the event as stored; null if they are sealed or erased. */
  data: Record<string, unknown> | null;
  /** Oldest first. */
  made: Attempt[];
};

/** Which deliveries of a webhook are meant. */
export interface DeliveryFilter {
  state?: "waiting" | "delivered" | "failed" | undefined;
  event?: string | undefined;
  flowId?: string | undefined;
  /** Created at or after. */
  from?: Date | undefined;
  /** Created before. */
  until?: Date | undefined;
}

interface Receiver {
  tenantId: string;
  /** Id of a stored webhook, or of one of the configuration. */
  webhook: string;
}

function conditionOf({ tenantId, webhook }: Receiver, filter: DeliveryFilter): SQL | undefined {
  return and(
    eq(webhookDeliveries.tenantId, tenantId),
    eq(webhookDeliveries.webhook, webhook),
    filter.state && eq(webhookDeliveries.state, filter.state),
    filter.event === undefined ? undefined : eq(events.name, filter.event),
    filter.flowId === undefined ? undefined : eq(events.flowId, filter.flowId),
    filter.from && gte(webhookDeliveries.createdAt, filter.from),
    filter.until && lt(webhookDeliveries.createdAt, filter.until),
  );
}

const ofEvent = and(
  eq(events.tenantId, webhookDeliveries.tenantId),
  eq(events.id, webhookDeliveries.eventId),
);

/** Deliveries that a list counts and shows at most: those beyond are reached by a filter. */
export const MAX_LISTED = 10_000;

/**
 * Lists deliveries of a webhook, newest first, with all their attempts. No more than `MAX_LISTED` rows are read, unless
 * the filter has an event, which no index serves.
 *
 * @returns `total`: the matching deliveries, at most `MAX_LISTED`
 */
export async function listDeliveries(
  { database }: Databases,
  receiver: Receiver,
  filter: DeliveryFilter,
  page: { number: number; size: number },
): Promise<{ deliveries: ListedDelivery[]; total: number }> {
  const matches = () => {
    const all = database.read.select({ id: webhookDeliveries.id }).from(webhookDeliveries).$dynamic();
    const ofEvents = filter.event !== undefined || filter.flowId !== undefined;
    return (ofEvents ? all.innerJoin(events, ofEvent) : all).where(conditionOf(receiver, filter));
  };
  const newestFirst = [
    desc(webhookDeliveries.createdAt),
    desc(webhookDeliveries.sequence),
    asc(webhookDeliveries.id),
  ];
  const found = matches().orderBy(desc(webhookDeliveries.createdAt)).limit(MAX_LISTED).as("found");
  const [counted] = await database.read.select({ total: count() }).from(found);
  const total = counted?.total ?? 0;
  const offset = (page.number - 1) * page.size;
  const size = Math.min(page.size, total - offset);
  if (size <= 0) return { deliveries: [], total };
  const ids = matches()
    .orderBy(...newestFirst)
    .limit(size)
    .offset(offset);
  const isListed = and(eq(webhookDeliveries.tenantId, receiver.tenantId), inArray(webhookDeliveries.id, ids));
  const deliveries = await deliveriesWhere({ database }, receiver, isListed, newestFirst);
  return { deliveries, total };
}

/** @returns null if the webhook has no such delivery */
export async function findDelivery(
  { database }: Databases,
  receiver: Receiver,
  id: string,
): Promise<ListedDelivery | null> {
  const isMeant = and(conditionOf(receiver, {}), eq(webhookDeliveries.id, id));
  const [found] = await deliveriesWhere({ database }, receiver, isMeant);
  return found ?? null;
}

async function deliveriesWhere(
  { database }: Databases,
  { tenantId }: Receiver,
  condition: SQL | undefined,
  order: SQL[] = [],
): Promise<ListedDelivery[]> {
  const rows = await database.read
    .select({ delivery: webhookDeliveries, event: events.name, flowId: events.flowId, data: events.data })
    .from(webhookDeliveries)
    .leftJoin(events, ofEvent)
    .where(condition)
    .orderBy(...order);
  const ids = rows.map(({ delivery }) => delivery.id);
  const attempts = await database.read
    .select()
    .from(webhookAttempts)
    .where(and(eq(webhookAttempts.tenantId, tenantId), inArray(webhookAttempts.deliveryId, ids)))
    .orderBy(webhookAttempts.number);
  return rows.map(({ delivery, event, flowId, data }) => ({
    ...delivery,
    event,
    flowId,
    data,
    made: attempts.filter(({ deliveryId }) => deliveryId === delivery.id),
  }));
}

/** Deliveries that one replay makes. */
export const MAX_REPLAYED = 10_000;

/**
 * Makes a new delivery for each event that a filter selects: with the same `webhook-id`, in the order of the events. An
 * event is left out while a delivery of it waits, or if its data were erased. The `MAX_REPLAYED` oldest deliveries are
 * considered, which an index has in this order.
 *
 * @param filter with `id`: the one delivery
 * @returns ids of the new deliveries
 */
export async function replayDeliveries(
  { database }: Databases,
  { tenantId, webhook }: Receiver,
  filter: DeliveryFilter & { id?: string },
): Promise<string[]> {
  const { rows } = await database.write.execute<{ id: string }>(sql`
    insert into webhook_deliveries (tenant_id, id, webhook, event_id, sequence, subject_id, replay_of)
    select tenant_id, gen_random_uuid(), webhook, event_id, sequence, subject_id, id from (
      select distinct on (sequence) * from (
      select d.*
      from webhook_deliveries d join events e on e.tenant_id = d.tenant_id and e.id = d.event_id
      where d.tenant_id = ${tenantId} and d.webhook = ${webhook} and d.state <> 'waiting'
        and (e.data is not null or e.sealed_data is not null)
        and not exists (
          select 1 from webhook_deliveries w
          where w.tenant_id = d.tenant_id and w.event_id = d.event_id and w.webhook = d.webhook and w.state = 'waiting')
        and (${filter.id ?? null}::uuid is null or d.id = ${filter.id ?? null}::uuid)
        and (${filter.state ?? null}::text is null or d.state = ${filter.state ?? null}::text)
        and (${filter.event ?? null}::text is null or e.name = ${filter.event ?? null}::text)
        and (${filter.flowId ?? null}::uuid is null or e.flow_id = ${filter.flowId ?? null}::uuid)
        and (${filter.from ?? null}::timestamptz is null or d.created_at >= ${filter.from ?? null}::timestamptz)
        and (${filter.until ?? null}::timestamptz is null or d.created_at < ${filter.until ?? null}::timestamptz)
      order by d.created_at limit ${MAX_REPLAYED}::int) oldest
      order by sequence, created_at desc) chosen
    returning id`);
  return rows.map(({ id }) => id);
}

/** Name of the event of a test. No webhook subscribes to it, and nothing else emits it. */
const TEST_EVENT = "test";

/** Makes a delivery of an event without data to one webhook. @returns its id */
export async function sendTestEvent(
  { database, platform }: Databases & OnPlatform,
  { tenantId, webhook }: Receiver,
): Promise<string> {
  const [event, delivery] = [platform.uuid(), platform.uuid()];
  await database.write.execute(sql`
    with e as (
      insert into events (tenant_id, id, name, data) values (${tenantId}, ${event}, ${TEST_EVENT}, '{}') returning *)
    insert into webhook_deliveries (tenant_id, id, webhook, event_id, sequence)
    select tenant_id, ${delivery}, ${webhook}, id, sequence from e`);
  return delivery;
}

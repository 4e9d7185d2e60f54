import { sql } from "drizzle-orm";
import { PgDialect } from "drizzle-orm/pg-core";
import pg from "pg";
import { afterCommit } from "#db/after-commit";
import type { schema, Transaction } from "#db/client";
import { executeParts, type Part, type Statement } from "#db/part";
import { sessionObjectText } from "../objects/session-object.ts";
import { userObjectText } from "../objects/user-object.ts";
import { isSubscribed } from "./subscriptions.ts";

type AuditEntry = typeof schema.auditLogs.$inferInsert;

/** An event that was not written yet. */
export interface PendingEvent {
  tenantId: string;
  id: string;
  name: string;
  /** The subscriptions that cover it. */
  coveredBy: readonly string[];
  /** Ids of the webhooks of the configuration that are subscribed to it. */
  configWebhooks: readonly string[];
  /** Whether stored webhooks end at their expiry. */
  webhooksExpire: boolean;
  subjectId: string | null;
  flowId: string | null;
  /** The span of what emits it, as `beginCaused` takes it; null where that is not traced. */
  traceparent: string | null;
  /** Address of the tenant, below which its users' uploaded pictures are. */
  baseUrl: string;
  /** Null for an event with sealed data. */
  data: object | null;
  sealedData: Buffer | null;
  /** Whether `data` is completed by the user as it is at the end of the transaction. */
  addsUser: boolean;
  /**
   * Whether it stands for the events with its name of the sessions that the same statement ends, whose data they are.
   * Their ids are made by PostgreSQL.
   */
  ofEnded?: boolean;
  /** Called after the commit if a delivery was written. */
  wake(): void;
}

/** What a transaction records beside its changes. */
export type TransactionRecord = { audit: AuditEntry } | { event: PendingEvent };

/**
 * Inserts the audit entries and events of a transaction, with a delivery for each subscribed webhook: one statement, and
 * another one only if a webhook gets an event of a user. Nothing is inserted for an event without a subscribed webhook,
 * or with the id of an earlier event.
 */
export async function writeRecords(tx: Transaction, records: TransactionRecord[]): Promise<void> {
  const entries = records.flatMap((record) => ("audit" in record ? [record.audit] : []));
  const events = records.flatMap((record) => ("event" in record ? [record.event] : []));
  const audit = entries.length > 0 ? [entriesPart(entries)] : [];
  const [first = [], ...others] = Map.groupBy(events, ({ tenantId }) => tenantId).values();
  const written: string[] = [];
  for (const parts of [
    [...audit, ...(first.length > 0 ? [eventsPart(first)] : [])],
    ...others.map((ofTenant) => [eventsPart(ofTenant)]),
  ])
    written.push(...((await executeParts<WrittenEvents>(tx, parts)).events ?? []));
  const delivered = deliveredOf(events, written);
  if (delivered.some(({ addsUser }) => addsUser)) await executeParts(tx, usersParts(delivered));
  for (const wake of new Set(delivered.map((event) => event.wake))) afterCommit(tx, wake);
}

/** What `eventsPart` returns: the ids of the events that a webhook gets. */
export interface WrittenEvents {
  events: string[];
  /** The same, of a statement that ends sessions. */
  events_with_ended?: string[];
}

/** Those events that were written, because a webhook gets them. */
function deliveredOf(events: readonly PendingEvent[], written: readonly string[]): readonly PendingEvent[] {
  return events.filter(({ id }) => written.includes(id));
}

const subscribed = new PgDialect().sqlToQuery(isSubscribed(sql`i.covered_by`, sql`i.webhooks_expire`)).sql;

const itemsText = `select * from jsonb_to_recordset($1::jsonb) as i(
      position int, id uuid, name text, covered_by text[], webhooks_expire boolean,
      subject_id text, flow_id uuid, traceparent text, data jsonb, sealed_data text`;

/** Returns the text of a part that inserts the items of `items`, in their `order`. */
const insertionText = (items: string, configured: string, order: string) => `${items},
  event_target as materialized (
    select i.id as event_id, w.id::text as webhook
    from event_item i join webhooks w on w.tenant_id = $3::uuid and ${subscribed}
    union all
    ${configured}),
  event_written as (
    insert into events (tenant_id, id, name, subject_id, flow_id, traceparent, data, sealed_data)
    select $3::uuid, id, name, subject_id, flow_id, traceparent, data, decode(sealed_data, 'base64')
    from event_item where id in (select event_id from event_target) order by ${order}
    on conflict do nothing
    returning id, sequence, subject_id),
  event_delivery as (
    insert into webhook_deliveries (tenant_id, id, webhook, event_id, sequence, subject_id)
    select $3::uuid, gen_random_uuid(), t.webhook, e.id, e.sequence, e.subject_id
    from event_written e join event_target t on t.event_id = e.id)`;

const eventsText = insertionText(
  `event_item as materialized (${itemsText}))`,
  "select * from jsonb_to_recordset($2::jsonb) as c(event_id uuid, webhook text)",
  "position",
);

const withEndedText = insertionText(
  `event_pending as materialized (${itemsText}, of_ended boolean)),
  event_item as materialized (
    select position, id, name, covered_by, webhooks_expire, subject_id, flow_id, traceparent, data, sealed_data,
      id as pending_id, null::timestamptz as session_created_at, null::uuid as session_id
    from event_pending where not of_ended
    union all
    select p.position, gen_random_uuid(), p.name, p.covered_by, p.webhooks_expire, p.subject_id,
      p.flow_id, p.traceparent, ${sessionObjectText("s")}, null, p.id, s.created_at, s.id
    from session_ended s join event_pending p on p.of_ended and p.name = s.event)`,
  `select i.id, c.webhook from event_item i
    join jsonb_to_recordset($2::jsonb) as c(event_id uuid, webhook text) on c.event_id = i.pending_id`,
  "position, session_created_at, session_id",
);

/**
 * The part of a statement that inserts events of one tenant, and a delivery for each subscribed webhook. With events of ended sessions,
 * it belongs into the statement whose expression `session_ended` gives their rows with the name of the `event` of each; in a
 * distributed database such events are written without.
 */
export function eventsPart(events: readonly PendingEvent[]): Part {
  // The events of ended sessions take one place: their order is that of the sessions, whatever their names.
  const endedPosition = events.findIndex(({ ofEnded }) => ofEnded);
  const hasEnded = endedPosition >= 0;
  const items = events.map((event, position) => ({
    position: event.ofEnded ? endedPosition : position,
    id: event.id,
    name: event.name,
    covered_by: event.coveredBy,
    webhooks_expire: event.webhooksExpire,
    subject_id: event.subjectId,
    flow_id: event.flowId,
    traceparent: event.traceparent,
    data: event.data,
    sealed_data: event.sealedData?.toString("base64") ?? null,
    of_ended: event.ofEnded ?? false,
  }));
  const configured = events.flatMap(({ id, configWebhooks }) =>
    configWebhooks.map((webhook) => ({ event_id: id, webhook })),
  );
  const values = [JSON.stringify(items), JSON.stringify(configured)];
  const tenantId = events[0]?.tenantId ?? "";
  return {
    name: hasEnded ? "events_with_ended" : "events",
    text: hasEnded ? withEndedText : eventsText,
    values: [...values, tenantId],
    returns: "(select coalesce(json_agg(id), '[]') from event_written)",
    ...(hasEnded ? {} : { distributed: { text: "", after: statementsAtNode(tenantId, values) } }),
  };
}

/**
 * The same as statements of a distributed database: they insert events and their deliveries, and return the ids of the events
 * that there are then. An event with the id of an earlier one gets no further deliveries. The tenant is a part of their texts:
 * Citus 13.2 knows the node of an `insert` that selects from several tables by no parameter.
 */
function statementsAtNode(tenantId: string, values: readonly unknown[]): Statement[] {
  const tenant = `${pg.escapeLiteral(tenantId)}::uuid`;
  const given = `(${itemsText})) i`;
  const configuredText = "jsonb_to_recordset($2::jsonb) as c(event_id uuid, webhook text)";
  const texts = [
    `insert into events (tenant_id, id, name, subject_id, flow_id, traceparent, data, sealed_data)
    select ${tenant}, id, name, subject_id, flow_id, traceparent, data, decode(sealed_data, 'base64')
    from ${given}
    where id in (select event_id from ${configuredText})
      or exists (select 1 from webhooks w where w.tenant_id = ${tenant} and ${subscribed})
    order by position
    on conflict do nothing`,
    `insert into webhook_deliveries (tenant_id, id, webhook, event_id, sequence, subject_id)
    select ${tenant}, gen_random_uuid(), t.webhook, e.id, e.sequence, e.subject_id
    from (
      select i.id as event_id, w.id::text as webhook
      from ${given} join webhooks w on w.tenant_id = ${tenant} and ${subscribed}
      union all
      select event_id, webhook from ${configuredText}) t
    join events e on e.tenant_id = ${tenant} and e.id = t.event_id
    where not exists (
      select 1 from webhook_deliveries d where d.tenant_id = ${tenant} and d.event_id = e.id and d.webhook = t.webhook)`,
    `select coalesce(json_agg(e.id), '[]') as events from events e
    where e.tenant_id = ${tenant} and e.id in (select id from ${given}) and $2::jsonb is not null`,
  ];
  return texts.map((text) => ({ text, values: [...values] }));
}

// Not part of the statement above, whose planning would then cost the plan of a whole user, webhooks or none.
const usersText = `event_user as (
  update events e set data = u.object || e.data
  from (select id, ${userObjectText("$2", { row: "users", tenant: "$3" })} as object from users
    where tenant_id = $3 and id = any($4::uuid[])) u
  where e.tenant_id = $3 and e.id = any($1::uuid[]) and u.id = e.subject_id::uuid)`;

/** The parts that complete the data of events by their users, one for each tenant. */
export function usersParts(events: readonly PendingEvent[]): Part[] {
  const incomplete = events.filter(({ addsUser }) => addsUser);
  return [...Map.groupBy(incomplete, ({ tenantId }) => tenantId)].map(([tenantId, ofTenant]) => ({
    name: "event_user",
    text: usersText,
    values: [
      ofTenant.map(({ id }) => id),
      ofTenant[0]?.baseUrl,
      tenantId,
      [...new Set(ofTenant.map(({ subjectId }) => subjectId))],
    ],
    begins: true,
  }));
}

/** The part of a statement that inserts audit entries. */
export function entriesPart(entries: readonly AuditEntry[]): Part {
  return { name: "audit", text: entriesText, values: { rows: entries.map(auditColumns) } };
}

// What became of a job is written again if the answer was lost.
const entriesText = `entry as (
  insert into audit_logs (tenant_id, id, type, user_id, request_id, ip_address, user_agent, details, created_at)
  select * from jsonb_to_recordset($1::jsonb) as e(
    tenant_id uuid, id uuid, type text, user_id uuid, request_id text, ip_address text, user_agent text,
    details jsonb, created_at timestamptz)
  on conflict do nothing)`;

function auditColumns(entry: AuditEntry) {
  return {
    tenant_id: entry.tenantId,
    id: entry.id,
    type: entry.type,
    user_id: entry.userId,
    request_id: entry.requestId,
    ip_address: entry.ipAddress,
    user_agent: entry.userAgent,
    details: entry.details,
    created_at: entry.createdAt,
  };
}

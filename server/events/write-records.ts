import { sql } from "drizzle-orm";
import { afterCommit } from "#db/after-commit";
import type { schema, Transaction } from "#db/client";
import { bound, executePart, type Part } from "#db/part";
import { userObject } from "../account/user-object.ts";
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
  /** Address of the tenant, below which its users' uploaded pictures are. */
  baseUrl: string;
  /** Null for an event with sealed data. */
  data: object | null;
  sealedData: Buffer | null;
  /** Whether `data` is completed by the user as it is at the end of the transaction. */
  addsUser: boolean;
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
  if (events.length === 0) {
    await executePart(tx, entriesPart(entries));
    return;
  }
  const { rows } = await tx.execute<{ id: string }>(insertOf(entries, events));
  if (rows.length === 0) return;
  const written = new Set(rows.map(({ id }) => id));
  const delivered = events.filter(({ id }) => written.has(id));
  const incomplete = delivered.filter(({ addsUser }) => addsUser);
  for (const [baseUrl, ofTenant] of Map.groupBy(incomplete, (event) => event.baseUrl))
    await addUsers(tx, ofTenant, baseUrl);
  for (const wake of new Set(delivered.map((event) => event.wake))) afterCommit(tx, wake);
}

/** Statement that inserts audit entries, events and deliveries, and returns the ids of the inserted events. */
function insertOf(entries: AuditEntry[], events: PendingEvent[]) {
  const items = events.map((event, position) => ({
    position,
    tenant_id: event.tenantId,
    id: event.id,
    name: event.name,
    covered_by: event.coveredBy,
    webhooks_expire: event.webhooksExpire,
    subject_id: event.subjectId,
    flow_id: event.flowId,
    data: event.data,
    sealed_data: event.sealedData?.toString("base64") ?? null,
  }));
  const configured = events.flatMap(({ id, configWebhooks }) =>
    configWebhooks.map((webhook) => ({ event_id: id, webhook })),
  );
  const audit = sql`${bound(entriesText, [JSON.stringify(entries.map(auditColumns))])},
    `;
  return sql`with ${entries.length > 0 ? audit : sql``}item as materialized (
      select * from jsonb_to_recordset(${JSON.stringify(items)}::jsonb) as i(
        position int, tenant_id uuid, id uuid, name text, covered_by text[], webhooks_expire boolean,
        subject_id text, flow_id uuid, data jsonb, sealed_data text)),
    target as materialized (
      select i.id as event_id, w.id::text as webhook
      from item i join webhooks w on w.tenant_id = i.tenant_id
        and ${isSubscribed(sql`i.covered_by`, sql`i.webhooks_expire`)}
      union all
      select * from jsonb_to_recordset(${JSON.stringify(configured)}::jsonb) as c(event_id uuid, webhook text)),
    event as (
      insert into events (tenant_id, id, name, subject_id, flow_id, data, sealed_data)
      select tenant_id, id, name, subject_id, flow_id, data, decode(sealed_data, 'base64')
      from item where id in (select event_id from target) order by position
      on conflict do nothing
      returning tenant_id, id, sequence, subject_id),
    delivery as (
      insert into webhook_deliveries (tenant_id, id, webhook, event_id, sequence, subject_id)
      select e.tenant_id, gen_random_uuid(), t.webhook, e.id, e.sequence, e.subject_id
      from event e join target t on t.event_id = e.id)
    select id from event`;
}

/** The part of a statement that inserts audit entries. */
export function entriesPart(entries: readonly AuditEntry[]): Part {
  return { name: "audit", text: entriesText, values: { rows: entries.map(auditColumns) } };
}

const entriesText = `entry as (
  insert into audit_logs (tenant_id, id, type, user_id, request_id, ip_address, user_agent, details, created_at)
  select * from jsonb_to_recordset($1::jsonb) as e(
    tenant_id uuid, id uuid, type text, user_id uuid, request_id text, ip_address text, user_agent text,
    details jsonb, created_at timestamptz))`;

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

/**
 * Completes the data of events by their users. It is not part of the statement above, whose planning would then cost
 * every transaction the plan of a whole user, webhooks or none.
 */
async function addUsers(tx: Transaction, events: PendingEvent[], base_url: string): Promise<void> {
  const ids = sql.param(events.map(({ id }) => id));
  await tx.execute(sql`
    update events e set data = ${userObject({ base_url }, "u")} || e.data
    from users u
    where e.id = any(${ids}::uuid[]) and u.tenant_id = e.tenant_id and u.id = e.subject_id::uuid
      and e.tenant_id = any(${sql.param(events.map(({ tenantId }) => tenantId))}::uuid[])`);
}

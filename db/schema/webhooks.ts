import { sql } from "drizzle-orm";
import { bigint, boolean, index, integer, jsonb, primaryKey, text, uuid } from "drizzle-orm/pg-core";
import { bytes, createdAt, isSet, moment, tenantId, times } from "./columns.ts";
import { declareTable, sealed } from "./table.ts";
import { tenants } from "./tenants.ts";

/** A name that a webhook is subscribed to. */
export interface SubscribedEvent {
  id: string;
  event: string;
}

/** Webhooks stored by an administrator. Those of `webhooks.hooks` have no row. */
export const webhooks = declareTable(
  "webhooks",
  {
    tenantId: tenantId().references(() => tenants.id, { onDelete: "cascade" }),
    id: uuid("id").notNull(),
    callback: text("callback").notNull(),
    enabled: boolean("enabled").notNull().default(true),
    /**
     * Whether this is a running `stile webhooks listen`. It takes its deliveries itself, moves `expires_at` on while it
     * runs, and is purged after that time. Nothing lists it among the webhooks.
     */
    isListener: boolean("is_listener").notNull().default(false),
    /** Deliveries in a row that were given up. Above a limit the webhook is disabled. */
    failures: integer("failures").notNull().default(0),
    /** Of a listener, or with `webhooks.allow_time_expiration`: the time after which it gets no more events. */
    expiresAt: moment("expires_at").notNull(),
    events: jsonb("events").notNull().$type<SubscribedEvent[]>(),
    sealedSecret: bytes("sealed_secret").notNull(),
    /** The secret before the last rotation, which signs too until its expiry. */
    sealedPreviousSecret: bytes("sealed_previous_secret"),
    previousSecretExpiresAt: moment("previous_secret_expires_at"),
    ...times(),
  },
  {
    owner: "tenant",
    ends: "when the webhook is deleted",
    // A listener that was killed: `stile webhooks listen` moves its expiry on while it runs.
    purge: { by: "expiresAt", and: sql`is_listener`, only: "if it is a listener" },
    erase: {
      columns: { sealedPreviousSecret: null, previousSecretExpiresAt: null },
      by: "previousSecretExpiresAt",
    },
    exported: { because: "Webhooks are set up by the operator." },
    keyed: {
      sealedSecret: sealed("the secret of a webhook", "webhooks/{tenantId}/{id}/secret"),
      sealedPreviousSecret: sealed(
        "the previous secret of a webhook",
        "webhooks/{tenantId}/{id}/previous-secret",
      ),
    },
    grows: false,
  },
  (table) => [primaryKey({ columns: [table.tenantId, table.id] })],
);

/** Events that a webhook was subscribed to when they were committed. */
export const events = declareTable(
  "events",
  {
    tenantId: tenantId().references(() => tenants.id, { onDelete: "cascade" }),
    /** The `webhook-id` of every delivery. */
    id: uuid("id").notNull(),
    /** Order of the events of one subject. */
    sequence: bigint("sequence", { mode: "number" }).notNull().generatedAlwaysAsIdentity(),
    name: text("name").notNull(),
    /** The user whose events are delivered in order; null where there is no account. */
    subjectId: text("subject_id"),
    /** The flow that caused it. */
    flowId: uuid("flow_id"),
    /** The span of what caused it (W3C Trace Context, 3.2); null where that was not traced. */
    traceparent: text("traceparent"),
    /** `data` of the token; null for an event with sealed data. */
    data: jsonb("data").$type<Record<string, unknown>>(),
    /** The same of `email.send`, which may hold a code: sealed, and erased when no delivery of it waits. */
    sealedData: bytes("sealed_data"),
    createdAt: createdAt(),
  },
  {
    owner: "tenant",
    ends: "with the webhook, if no other got the event",
    purge: { by: "createdAt", after: "webhooks.retention" },
    // Deliveries are tried for less than two days. The last one to end erases the data; it may have been a listener's
    // that stopped.
    erase: {
      columns: { sealedData: null },
      by: "createdAt",
      after: "49 hours",
      and: sql`sealed_data is not null`,
    },
    exported: { because: "Receivers have got them." },
    ofDeletedAccounts: "events with the account's data",
    keyed: {
      sealedData: sealed("a mail for a webhook", "events/{tenantId}/{id}/data"),
    },
  },
  (table) => [
    primaryKey({ columns: [table.tenantId, table.id] }),
    // For the purge, which looks for old rows of all tenants.
    index("events_purge").on(table.createdAt),
    index("events_sealed").on(table.createdAt).where(isSet(table.sealedData)),
    // The timeline of a user.
    index("events_subject")
      .on(table.tenantId, table.subjectId, table.createdAt, table.id)
      .where(isSet(table.subjectId)),
    index("events_flow").on(table.tenantId, table.flowId).where(isSet(table.flowId)),
  ],
);

/** The delivery of an event to one webhook. */
export const webhookDeliveries = declareTable(
  "webhook_deliveries",
  {
    tenantId: tenantId().references(() => tenants.id, { onDelete: "cascade" }),
    id: uuid("id").notNull(),
    /** Id of a stored webhook, or that of `server/events/config-webhooks.ts`. */
    webhook: text("webhook").notNull(),
    eventId: uuid("event_id").notNull(),
    /** Copies of the event's columns, for the order of deliveries. */
    sequence: bigint("sequence", { mode: "number" }).notNull(),
    subjectId: text("subject_id"),
    /** `waiting`, `delivered`, or `failed`: not attempted again. */
    state: text("state").notNull().default("waiting").$type<"waiting" | "delivered" | "failed">(),
    /** Attempts whose result is known. */
    attempts: integer("attempts").notNull().default(0),
    /** Time of the next attempt. */
    dueAt: moment("due_at").notNull().defaultNow(),
    /** Until when a process has it in hand. */
    claimedUntil: moment("claimed_until"),
    /** The delivery that this one repeats. */
    replayOf: uuid("replay_of"),
    createdAt: createdAt(),
    finishedAt: moment("finished_at"),
  },
  {
    owner: "tenant",
    ends: "with the webhook",
    purge: { by: "createdAt", after: "webhooks.retention", under: ["tenantId", "webhook"] },
    exported: { because: "Receivers have got them." },
    ofDeletedAccounts: "deliveries with the account's id",
  },
  (table) => [
    primaryKey({ columns: [table.tenantId, table.id] }),
    index("webhook_deliveries_due")
      .on(table.tenantId, table.webhook, table.dueAt)
      .where(sql`${table.state} = 'waiting'`),
    index("webhook_deliveries_order")
      .on(table.tenantId, table.webhook, table.subjectId, table.sequence)
      .where(sql`${table.state} = 'waiting' and ${table.attempts} = 0`),
    index("webhook_deliveries_event").on(table.tenantId, table.eventId),
    index("webhook_deliveries_created_at").on(table.tenantId, table.webhook, table.createdAt),
    index("webhook_deliveries_failed")
      .on(table.tenantId, table.webhook, table.createdAt)
      .where(sql`${table.state} = 'failed'`),
  ],
);

/** Attempts of deliveries, for the administrator. */
export const webhookAttempts = declareTable(
  "webhook_attempts",
  {
    tenantId: tenantId().references(() => tenants.id, { onDelete: "cascade" }),
    deliveryId: uuid("delivery_id").notNull(),
    /** Counted from 1. */
    number: integer("number").notNull(),
    at: moment("at").notNull(),
    durationMs: integer("duration_ms").notNull(),
    /** Status of the answer; null without one. */
    status: integer("status"),
    /** Why the attempt failed; null if it succeeded. */
    error: text("error"),
    /** The first KiB of the answer's body. */
    answer: text("answer"),
  },
  {
    owner: "tenant",
    ends: "with the webhook",
    purge: { by: "at", after: "webhooks.retention" },
    exported: { because: "Receivers have got them." },
  },
  (table) => [
    primaryKey({ columns: [table.tenantId, table.deliveryId, table.number] }),
    index("webhook_attempts_at").on(table.at),
  ],
);

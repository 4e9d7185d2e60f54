import { index, integer, jsonb, primaryKey, real, smallint, text, uuid } from "drizzle-orm/pg-core";
import { bytes, isSet, moment, tenantId } from "./columns.ts";
import { declareTable } from "./table.ts";

/**
 * What is recorded of flows, for the operator. No column has a value that a client sent, except the id of a request. Rows
 * have no foreign key: what inserts them would lock the rows of others.
 */

/** Recorded flows. A change of `recorder.retention` is for flows and steps that are recorded later. */
export const recordedFlows = declareTable(
  "recorded_flows",
  {
    tenantId: tenantId(),
    id: uuid("id").notNull(),
    type: text("type").notNull(),
    /** The number that a page shows its user (`server/recorder/support-number.ts`). */
    supportNumber: text("support_number").notNull(),
    /** The account that the flow is about, once that is known. */
    userId: uuid("user_id"),
    /** The state that was answered last. */
    state: text("state"),
    outcome: text("outcome").notNull(),
    steps: integer("steps").notNull(),
    startedAt: moment("started_at").notNull(),
    lastStepAt: moment("last_step_at").notNull(),
    expiresAt: moment("expires_at").notNull(),
  },
  {
    owner: "tenant",
    purge: { by: "expiresAt" },
    exported: { because: "`stile flow show` prints the flows." },
    ofDeletedAccounts: "flows with the account's id, for `recorder.retention`",
  },
  (table) => [
    primaryKey({ columns: [table.tenantId, table.id] }),
    index("recorded_flows_started").on(table.tenantId, table.startedAt, table.id),
    index("recorded_flows_number").on(table.tenantId, table.supportNumber),
    index("recorded_flows_user").on(table.tenantId, table.userId, table.startedAt).where(isSet(table.userId)),
    index("recorded_flows_expires_at").on(table.expiresAt),
  ],
);

/** The steps of recorded flows. */
export const recordedSteps = declareTable(
  "recorded_steps",
  {
    tenantId: tenantId(),
    flowId: uuid("flow_id").notNull(),
    /** In the order of time (RFC 9562, 5.7). */
    id: uuid("id").notNull(),
    at: moment("at").notNull(),
    /** Null for a start without an action, and where the flow was not read. */
    fromState: text("from_state"),
    action: text("action"),
    verdict: text("verdict").notNull(),
    /** Null if the answer showed no state of the flow. */
    state: text("state"),
    error: text("error"),
    /** Why it failed, as the audit log names it; null where it names none, or a former release recorded it. */
    reason: text("reason"),
    /** Milliseconds in all, and of them for statements, hashes and identity providers. */
    milliseconds: real("milliseconds").notNull(),
    databaseMs: real("database_ms").notNull(),
    hashMs: real("hash_ms").notNull(),
    providerMs: real("provider_ms").notNull(),
    statements: smallint("statements").notNull(),
    /** Milliseconds for which the state before was shown. */
    inStateMs: real("in_state_ms"),
    requestId: text("request_id").notNull(),
    /** The network of the client. */
    source: text("source").notNull(),
    platform: text("platform"),
    browser: text("browser"),
    embedding: text("embedding").notNull(),
    /** Names of those that the client has, separated by spaces; null if it was not asked. */
    capabilities: text("capabilities"),
    /** A name, a kind and a length for each. */
    inputs: jsonb("inputs").notNull().$type<[name: string, kind: string, length: number | null][]>(),
    /** Reasons by action and by state, compressed (`server/recorder/stored-reasons.ts`). */
    notOffered: bytes("not_offered"),
    /** What a replay performs the step by (`server/recorder/stored-skeletons.ts`); null if nothing was judged, or a former release recorded it. */
    decidedBy: bytes("decided_by"),
    expiresAt: moment("expires_at").notNull(),
  },
  {
    owner: "tenant",
    purge: { by: "expiresAt" },
    exported: { because: "`stile flow show` prints the steps." },
  },
  (table) => [
    primaryKey({ columns: [table.tenantId, table.flowId, table.id] }),
    index("recorded_steps_request").on(table.tenantId, table.requestId),
    index("recorded_steps_expires_at").on(table.expiresAt),
  ],
);

/** The settings of tenants by which flows were recorded, without secrets and personal data: each version of them once. */
export const recordedSettings = declareTable(
  "recorded_settings",
  {
    tenantId: tenantId(),
    /** The first bytes of a digest of the settings, which steps refer to. */
    digest: bytes("digest").notNull(),
    /** Compressed JSON. */
    settings: bytes("settings").notNull(),
    expiresAt: moment("expires_at").notNull(),
  },
  {
    owner: "tenant",
    purge: { by: "expiresAt" },
    exported: { because: "`stile flow export` has them in the bundles of flows." },
  },
  (table) => [
    primaryKey({ columns: [table.tenantId, table.digest] }),
    index("recorded_settings_expires_at").on(table.expiresAt),
  ],
);

import { index, integer, jsonb, pgTable, primaryKey, text, uniqueIndex, uuid } from "drizzle-orm/pg-core";
import { bytes, createdAt, moment, tenantId } from "./columns.ts";
import { tenants } from "./tenants.ts";

/** A login, a registration: one run of the state machine. Its tokens are kept as hashes. */
export const flows = pgTable(
  "flows",
  {
    tenantId: tenantId().references(() => tenants.id, { onDelete: "cascade" }),
    id: uuid("id").notNull(),
    type: text("type").notNull(),
    state: text("state").notNull(),
    /** Grows with every answer that shows a state. */
    version: integer("version").notNull(),
    tokenHash: bytes("token_hash").notNull(),
    resumeHash: bytes("resume_hash").notNull(),
    /** The account this flow is about, as soon as one is known. */
    userId: uuid("user_id"),
    data: jsonb("data").notNull(),
    history: jsonb("history").notNull(),
    /** What entering the state made for the client: WebAuthn options, waiting times. */
    payload: jsonb("payload").notNull(),
    /** The refusal that the last answer carried, if any. */
    problem: jsonb("problem"),
    claim: uuid("claim"),
    claimedBy: uuid("claimed_by"),
    claimedUntil: moment("claimed_until"),
    createdAt: createdAt(),
    expiresAt: moment("expires_at").notNull(),
    finishedAt: moment("finished_at"),
    sessionId: uuid("session_id"),
  },
  (table) => [
    primaryKey({ columns: [table.tenantId, table.id] }),
    index("flows_expires_at").on(table.expiresAt),
    index("flows_user").on(table.tenantId, table.userId),
  ],
);

/** Running servers; the claims of one whose lease ran out are free. */
export const instances = pgTable("instances", {
  id: uuid("id").primaryKey(),
  leasedUntil: moment("leased_until").notNull(),
});

/** Codes that were mailed. A row with no `userId` and no way to be right stands for an account that does not exist. */
export const passcodes = pgTable(
  "passcodes",
  {
    tenantId: tenantId(),
    flowId: uuid("flow_id").notNull(),
    purpose: text("purpose").notNull(),
    /** HMAC of the recipient's canonical address, or of the identifier where there is no recipient. */
    recipient: bytes("recipient").notNull(),
    codeHash: bytes("code_hash").notNull(),
    tries: integer("tries").notNull().default(0),
    createdAt: createdAt(),
    expiresAt: moment("expires_at").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.tenantId, table.flowId, table.purpose, table.recipient] }),
    index("passcodes_expires_at").on(table.expiresAt),
  ],
);

/** WebAuthn challenges, each for one flow, one ceremony and, where one is known, one user. Taken before verification. */
export const webauthnChallenges = pgTable(
  "webauthn_challenges",
  {
    tenantId: tenantId(),
    id: uuid("id").notNull(),
    flowId: uuid("flow_id").notNull(),
    ceremony: text("ceremony").notNull(),
    userId: uuid("user_id"),
    challenge: text("challenge").notNull(),
    /** Credential ids the answer may come from; null for any. */
    allowed: text("allowed").array(),
    expiresAt: moment("expires_at").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.tenantId, table.id] }),
    uniqueIndex("webauthn_challenges_challenge").on(table.tenantId, table.challenge),
    index("webauthn_challenges_expires_at").on(table.expiresAt),
  ],
);

/** Counted failures. `subject` is an HMAC of the account, or of the identifier that has none; `source` is empty or a source prefix. */
export const failures = pgTable(
  "failures",
  {
    tenantId: tenantId(),
    method: text("method").notNull(),
    subject: bytes("subject").notNull(),
    source: text("source").notNull(),
    consecutive: integer("consecutive").notNull(),
    windowStartedAt: moment("window_started_at").notNull(),
    windowCount: integer("window_count").notNull(),
    lastAt: moment("last_at").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.tenantId, table.method, table.subject, table.source] }),
    index("failures_last_at").on(table.lastAt),
  ],
);

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
    /** Members of the payload that are secrets, sealed. */
    sealedPayload: bytes("sealed_payload"),
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

/** People sent to an identity provider who are not back yet. Taken when they come back, by the state they bring. */
export const thirdPartyRequests = pgTable(
  "third_party_requests",
  {
    tenantId: tenantId(),
    stateHash: bytes("state_hash").notNull(),
    /** The flow that sent them; null when none did. */
    flowId: uuid("flow_id"),
    provider: text("provider").notNull(),
    /** What must be remembered and not shown: PKCE verifier, nonce, id of the SAML request; sealed JSON. */
    sealed: bytes("sealed").notNull(),
    redirectTo: text("redirect_to").notNull(),
    /** S256 challenge of the verifier that the exchange must show (RFC 7636), where the flow gave one. */
    codeChallenge: text("code_challenge"),
    /** The account that a profile flow connects the identity to. */
    userId: uuid("user_id"),
    expiresAt: moment("expires_at").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.tenantId, table.stateHash] }),
    index("third_party_requests_expires_at").on(table.expiresAt),
  ],
);

/** One-time tokens that carry what a provider said of a person from the callback into the flow. */
export const exchangeTokens = pgTable(
  "exchange_tokens",
  {
    tenantId: tenantId(),
    tokenHash: bytes("token_hash").notNull(),
    /** The flow it is for; null for one that an identity provider started. */
    flowId: uuid("flow_id"),
    codeChallenge: text("code_challenge"),
    userId: uuid("user_id"),
    /** What the provider said, sealed: `ProviderFacts` of `server/thirdparty/provider-facts.ts`. */
    sealed: bytes("sealed").notNull(),
    expiresAt: moment("expires_at").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.tenantId, table.tokenHash] }),
    index("exchange_tokens_expires_at").on(table.expiresAt),
  ],
);

/** SAML responses and assertions that were taken, until they could no longer be shown again. */
export const seenAssertions = pgTable(
  "seen_assertions",
  {
    tenantId: tenantId(),
    /** SHA-256 of the issuer and the identifier. */
    idHash: bytes("id_hash").notNull(),
    expiresAt: moment("expires_at").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.tenantId, table.idHash] }),
    index("seen_assertions_expires_at").on(table.expiresAt),
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

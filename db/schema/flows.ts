import { sql } from "drizzle-orm";
import { index, integer, jsonb, primaryKey, text, uniqueIndex, uuid } from "drizzle-orm/pg-core";
import { bytes, createdAt, isSet, moment, tenantId } from "./columns.ts";
import { declareTable, sealed } from "./table.ts";
import { tenants } from "./tenants.ts";

/** Types of flows that belong to a session: they need one, and are of its user. The others sign in. */
export const flowTypesOfSessions = ["profile", "consent"] as const;

/** Runs of the state machine, such as a login or a registration. Tokens are stored as hashes. */
export const flows = declareTable(
  "flows",
  {
    tenantId: tenantId().references(() => tenants.id, { onDelete: "cascade" }),
    id: uuid("id").notNull(),
    type: text("type").notNull(),
    state: text("state").notNull(),
    /** Incremented with every response that contains a state. */
    version: integer("version").notNull(),
    tokenHash: bytes("token_hash").notNull(),
    resumeHash: bytes("resume_hash").notNull(),
    /** The secret before the newest one; null once it is no longer accepted. */
    previousResumeHash: bytes("previous_resume_hash"),
    /** The account of this flow, once it is known. */
    userId: uuid("user_id"),
    data: jsonb("data").notNull(),
    history: jsonb("history").notNull(),
    /** Data that entering the state created for the client: WebAuthn options, waiting times. */
    payload: jsonb("payload").notNull(),
    /** Secret members of the payload, sealed. */
    sealedPayload: bytes("sealed_payload"),
    /** The error in the last response, if any. */
    problem: jsonb("problem"),
    claim: uuid("claim"),
    claimedBy: uuid("claimed_by"),
    claimedUntil: moment("claimed_until"),
    createdAt: createdAt(),
    expiresAt: moment("expires_at").notNull(),
    finishedAt: moment("finished_at"),
    sessionId: uuid("session_id"),
  },
  {
    owner: "account",
    revoked: "access",
    // Kept for a day to distinguish an expired flow from an unknown one.
    purge: { by: "expiresAt", after: "24 hours" },
    exported: { because: "Rows live for about a day." },
    keyed: {
      sealedPayload: sealed("an answer of a flow", "flow/{tenantId}/{id}/payload", "expiry"),
    },
  },
  (table) => [
    primaryKey({ columns: [table.tenantId, table.id] }),
    index("flows_expires_at").on(table.expiresAt),
    // Partial, so that no look-up of a flow by its id can use it. While PostgreSQL has no statistics of the table, an
    // index that begins with the tenant looks as good as the key, and the plan that reads all flows stays prepared.
    index("flows_user").on(table.tenantId, table.userId).where(isSet(table.userId)),
  ],
);

/** Running servers. Claims of a server whose lease has expired are released. */
export const instances = declareTable(
  "instances",
  {
    id: uuid("id").primaryKey(),
    leasedUntil: moment("leased_until").notNull(),
    /** As in `releases`. Release 0.2 names none, so that it cannot run any more. */
    version: text("version").notNull(),
  },
  {
    owner: "deployment",
    ends: "when the server stops, or at the next start of a server after the lease has ended",
    grows: false,
  },
);

/** Codes sent by mail. For an account that does not exist there is a row with a code that nothing matches. */
export const passcodes = declareTable(
  "passcodes",
  {
    tenantId: tenantId(),
    flowId: uuid("flow_id").notNull(),
    purpose: text("purpose").notNull(),
    /** HMAC of the recipient's canonical address, or of the identifier where there is no recipient. */
    recipient: bytes("recipient").notNull(),
    codeHash: bytes("code_hash").notNull(),
    /** Id of the secret key of the hash. Release 0.2 knows no such id. */
    keyId: bytes("key_id"),
    tries: integer("tries").notNull().default(0),
    createdAt: createdAt(),
    expiresAt: moment("expires_at").notNull(),
  },
  {
    owner: "tenant",
    ends: "when the code is used or replaced",
    // The count of attempts outlives the code, for as long as its flow may last.
    purge: { by: "expiresAt", after: "24 hours" },
    exported: { because: "Rows live for about a day." },
    ofDeletedAccounts: "codes that were sent, under an HMAC of the address",
    keyed: {
      codeHash: { kind: "digest", holds: "a mailed code", keyColumn: "keyId", after: "expiry" },
    },
  },
  (table) => [
    primaryKey({ columns: [table.tenantId, table.flowId, table.purpose, table.recipient] }),
    index("passcodes_expires_at").on(table.expiresAt),
  ],
);

/** Pending requests to identity providers. The `state` of the response identifies its request and consumes it. */
export const thirdPartyRequests = declareTable(
  "third_party_requests",
  {
    tenantId: tenantId(),
    stateHash: bytes("state_hash").notNull(),
    /** The flow that sent the request; null if none did. */
    flowId: uuid("flow_id"),
    provider: text("provider").notNull(),
    /** PKCE verifier, nonce and id of the SAML request, as sealed JSON. */
    sealed: bytes("sealed").notNull(),
    redirectTo: text("redirect_to").notNull(),
    /** S256 challenge of the verifier that the exchange requires (RFC 7636), if the flow has one. */
    codeChallenge: text("code_challenge"),
    /** The account that a profile flow links the identity to. */
    userId: uuid("user_id"),
    expiresAt: moment("expires_at").notNull(),
  },
  {
    owner: "account",
    revoked: "access",
    ends: "with the response of the provider",
    purge: { by: "expiresAt" },
    exported: { because: "Rows live for minutes." },
    keyed: {
      sealed: sealed("a request to a provider", "third-party request {tenantId} {stateHash}", "expiry"),
    },
  },
  (table) => [
    primaryKey({ columns: [table.tenantId, table.stateHash] }),
    index("third_party_requests_expires_at").on(table.expiresAt),
    index("third_party_requests_user").on(table.tenantId, table.userId).where(isSet(table.userId)),
  ],
);

/** One-time tokens that transfer the claims of a provider from the callback to the flow. */
export const exchangeTokens = declareTable(
  "exchange_tokens",
  {
    tenantId: tenantId(),
    tokenHash: bytes("token_hash").notNull(),
    /** The flow that may redeem the token; null for a sign-in that the identity provider initiated. */
    flowId: uuid("flow_id"),
    codeChallenge: text("code_challenge"),
    userId: uuid("user_id"),
    /** The claims of the provider, sealed: `ProviderFacts` of `server/thirdparty/provider-facts.ts`. */
    sealed: bytes("sealed").notNull(),
    expiresAt: moment("expires_at").notNull(),
  },
  {
    owner: "account",
    revoked: "access",
    ends: "when the token is redeemed",
    purge: { by: "expiresAt" },
    exported: { because: "Rows live for a minute." },
    keyed: {
      sealed: sealed("an answer of a provider", "exchange token {tenantId} {tokenHash}", "expiry"),
    },
  },
  (table) => [
    primaryKey({ columns: [table.tenantId, table.tokenHash] }),
    index("exchange_tokens_expires_at").on(table.expiresAt),
    index("exchange_tokens_user").on(table.tenantId, table.userId).where(isSet(table.userId)),
  ],
);

/** SAML responses and assertions that were accepted, and flows that moved to another window. Kept until they expire, to reject replays. */
export const seenAssertions = declareTable(
  "seen_assertions",
  {
    tenantId: tenantId(),
    /** SHA-256 of the issuer and the identifier, or of the identifier of the move. */
    idHash: bytes("id_hash").notNull(),
    expiresAt: moment("expires_at").notNull(),
  },
  {
    owner: "tenant",
    purge: { by: "expiresAt" },
    exported: { because: "Responses of a provider are accepted here alone." },
  },
  (table) => [
    primaryKey({ columns: [table.tenantId, table.idHash] }),
    index("seen_assertions_expires_at").on(table.expiresAt),
  ],
);

/** WebAuthn challenges, each for one flow, one ceremony and one user, if known. Consumed before verification. */
export const webauthnChallenges = declareTable(
  "webauthn_challenges",
  {
    tenantId: tenantId(),
    id: uuid("id").notNull(),
    flowId: uuid("flow_id").notNull(),
    ceremony: text("ceremony").notNull(),
    userId: uuid("user_id"),
    challenge: text("challenge").notNull(),
    /** Credential ids that may respond; null for any. */
    allowed: text("allowed").array(),
    expiresAt: moment("expires_at").notNull(),
  },
  {
    owner: "account",
    ends: "with the response of the authenticator",
    purge: { by: "expiresAt" },
    exported: { because: "Rows live for minutes." },
  },
  (table) => [
    primaryKey({ columns: [table.tenantId, table.id] }),
    uniqueIndex("webauthn_challenges_challenge").on(table.tenantId, table.challenge),
    index("webauthn_challenges_expires_at").on(table.expiresAt),
    index("webauthn_challenges_user").on(table.tenantId, table.userId).where(isSet(table.userId)),
  ],
);

/**
 * Until when a count is kept, in UTC. Consecutive failures block a method until another one succeeds: deleting them early
 * would allow new attempts.
 */
export const failuresExpiry = sql`((last_at at time zone 'UTC') + case when source not in ('', 'known') or consecutive = 0 then interval '2 days' else interval '1 year' end)`;

/** Counted failures. `subject`: HMAC of the account, or of an unknown identifier. `source`: a source prefix; empty or `*` for all. */
export const failures = declareTable(
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
  {
    owner: "tenant",
    purge: {
      by: failuresExpiry,
      before: sql`now() at time zone 'UTC'`,
      when: "a year after `last_at` for consecutive failures of an account, otherwise two days",
    },
    exported: { because: "Counters protect this service alone." },
    ofDeletedAccounts: "counters under an HMAC of the account's id",
  },
  (table) => [
    primaryKey({ columns: [table.tenantId, table.method, table.subject, table.source] }),
    index("failures_expiry").on(failuresExpiry),
  ],
);

import { sql } from "drizzle-orm";
import { foreignKey, index, jsonb, primaryKey, smallint, text, uniqueIndex, uuid } from "drizzle-orm/pg-core";
import { bytes, createdAt, deletedWith, isSet, moment, tenantId, times } from "./columns.ts";
import { sessions } from "./sessions.ts";
import { declareTable, sealed } from "./table.ts";
import { tenants } from "./tenants.ts";
import { users } from "./users.ts";

/**
 * What the OpenID provider keeps: authorization codes, tokens, grants, authorization requests. Each is found by the hash of
 * its identifier, which the client or the browser holds.
 */
export const openidArtifacts = declareTable(
  "openid_artifacts",
  {
    tenantId: tenantId().references(() => tenants.id, { onDelete: "cascade" }),
    /** The model of the library, such as `RefreshToken`. */
    kind: text("kind").notNull(),
    /** SHA-256 in base64url. */
    idHash: text("id_hash").notNull(),
    /** What the library stores, as sealed JSON, without the identifier. */
    payload: bytes("payload").notNull(),
    /** The hash of the grant that it was issued by. */
    grantHash: text("grant_hash"),
    userId: uuid("user_id"),
    clientId: text("client_id"),
    /** The hash of the code that a device shows its user. */
    userCodeHash: text("user_code_hash"),
    /** The session that it ends with; null if it outlives sessions. */
    sessionId: uuid("session_id"),
    /** When a code or a refresh token was used, or an authorization request answered. */
    consumedAt: moment("consumed_at"),
    /** What the user has answered to an authorization request, or to that of a device: `allowed`, `denied`, or `chosen` for the account that is signed in. */
    answer: text("answer"),
    /** When a device has asked for its tokens last. */
    polledAt: moment("polled_at"),
    /** The pause between its requests that it was told, in seconds; null: that of the standard. */
    pollSeconds: smallint("poll_seconds"),
    createdAt: createdAt(),
    expiresAt: moment("expires_at").notNull(),
  },
  {
    owner: "account",
    revoked: "access",
    ends: "with the grant that it was issued by, and with its session unless it has `offline_access`",
    purge: { by: "expiresAt" },
    exported: { because: "Applications ask again: tokens are bound to this service's keys." },
    keyed: {
      payload: sealed("an artifact of the OpenID provider", "openid/{tenantId}/{kind}/{idHash}"),
    },
  },
  (table) => [
    primaryKey({ columns: [table.tenantId, table.kind, table.idHash] }),
    index("openid_artifacts_grant").on(table.tenantId, table.grantHash).where(isSet(table.grantHash)),
    index("openid_artifacts_session_kind")
      .on(table.tenantId, table.sessionId, table.kind)
      .where(isSet(table.sessionId)),
    uniqueIndex("openid_artifacts_user_code")
      .on(table.tenantId, table.userCodeHash)
      .where(isSet(table.userCodeHash)),
    index("openid_artifacts_user").on(table.tenantId, table.userId).where(isSet(table.userId)),
    index("openid_artifacts_expires_at").on(table.expiresAt),
    deletedWith(users, table.tenantId, table.userId),
    deletedWith(sessions, table.tenantId, table.sessionId),
  ],
);

/** What users have allowed applications that are not the operator's own. */
export const openidConsents = declareTable(
  "openid_consents",
  {
    tenantId: tenantId(),
    userId: uuid("user_id").notNull(),
    clientId: text("client_id").notNull(),
    /** What a client that is not listed said of itself; null for one that is. */
    application: jsonb("application"),
    /** Scopes, claims and scopes of APIs. */
    allowed: jsonb("allowed").notNull(),
    /** When it has to be asked for again; null for a client that the operator has listed. */
    expiresAt: moment("expires_at"),
    ...times(),
  },
  {
    owner: "account",
    ends: "with its account, and when the user ends the access of the application",
    purge: { by: "expiresAt" },
    exported: { because: "Applications ask again." },
  },
  (table) => [
    primaryKey({ columns: [table.tenantId, table.userId, table.clientId] }),
    index("openid_consents_expires_at").on(table.expiresAt).where(isSet(table.expiresAt)),
    deletedWith(users, table.tenantId, table.userId),
  ],
);

/**
 * The clients that a session has signed its user in to, of those that are told when it ends. The end of the session leaves
 * `session_id` null, whatever ends it: a client with a `backchannel_logout_uri` is to be told then.
 */
export const openidSignIns = declareTable(
  "openid_sign_ins",
  {
    tenantId: tenantId().references(() => tenants.id, { onDelete: "cascade" }),
    clientId: text("client_id").notNull(),
    /** What the client knows the session by. */
    sid: text("sid").notNull(),
    sessionId: uuid("session_id"),
    userId: uuid("user_id").notNull(),
    createdAt: createdAt(),
  },
  {
    owner: "tenant",
    ends: "when a delivery is made of the end of its session, or none, for a client that is told in the browser alone",
    exported: { because: "Users sign in again." },
    ofDeletedAccounts: "the account's id, until the delivery is made",
  },
  (table) => [
    primaryKey({ columns: [table.tenantId, table.clientId, table.sid] }),
    index("openid_sign_ins_session").on(table.tenantId, table.sessionId).where(isSet(table.sessionId)),
    index("openid_sign_ins_ended").on(table.tenantId, table.createdAt).where(sql`${table.sessionId} is null`),
    // By hand in the migration: `on delete set null (session_id)`.
    foreignKey({
      columns: [table.tenantId, table.sessionId],
      foreignColumns: [sessions.tenantId, sessions.id],
    }).onDelete("set null"),
  ],
);

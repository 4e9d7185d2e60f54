import { index, primaryKey, text, uniqueIndex, uuid } from "drizzle-orm/pg-core";
import { bytes, createdAt, deletedWith, moment, tenantId } from "./columns.ts";
import type { ConsoleRole } from "./console-role.ts";
import { sessions } from "./sessions.ts";
import { declareTable, sealed } from "./table.ts";
import { tenants } from "./tenants.ts";
import { users } from "./users.ts";

/** Accounts that may enter the console. `operator` is a role of the default tenant alone. */
export const consoleGrants = declareTable(
  "console_grants",
  {
    tenantId: tenantId(),
    userId: uuid("user_id").notNull(),
    role: text("role").notNull().$type<ConsoleRole>(),
    createdAt: createdAt(),
  },
  {
    owner: "account",
    ends: "when the role is taken away",
    exported: { because: "Roles are of this service's console." },
  },
  (table) => [
    primaryKey({ columns: [table.tenantId, table.userId] }),
    deletedWith(users, table.tenantId, table.userId),
  ],
);

/** Browsers that are signed in to the console. Each goes with the session that it was entered with. */
export const consoleSessions = declareTable(
  "console_sessions",
  {
    tenantId: tenantId(),
    id: uuid("id").notNull(),
    sessionId: uuid("session_id").notNull(),
    /** SHA-256 of the token in the cookie. */
    tokenHash: bytes("token_hash").notNull(),
    createdAt: createdAt(),
    lastUsedAt: moment("last_used_at").notNull(),
    expiresAt: moment("expires_at").notNull(),
  },
  {
    owner: "account",
    ends: "at sign-out, with the session, after `console.idle_timeout` without use",
    purge: { by: "expiresAt" },
    exported: { because: "Operators sign in again." },
  },
  (table) => [
    primaryKey({ columns: [table.tenantId, table.id] }),
    uniqueIndex("console_sessions_token").on(table.tokenHash),
    index("console_sessions_session").on(table.tenantId, table.sessionId),
    index("console_sessions_expires_at").on(table.expiresAt),
    deletedWith(sessions, table.tenantId, table.sessionId),
  ],
);

/** Test sign-ins at identity providers, which end in no session of a user. Each is of one session of the console. */
export const providerTests = declareTable(
  "provider_tests",
  {
    /** The tenant of the provider. */
    tenantId: tenantId().references(() => tenants.id, { onDelete: "cascade" }),
    id: uuid("id").notNull(),
    /** The session that began it, and alone sees its result. */
    consoleSessionId: uuid("console_session_id").notNull(),
    /** `google`, `custom_acme`, or the id of a SAML provider. */
    provider: text("provider").notNull(),
    state: text("state").notNull().$type<"begun" | "opened" | "sent" | "ended">(),
    /** SHA-256 of the ticket that leads a browser from the host of the console to that of the tenant. */
    ticketHash: bytes("ticket_hash"),
    /** What came of it, with the claims that were received, as sealed JSON. */
    sealedResult: bytes("sealed_result"),
    createdAt: createdAt(),
    expiresAt: moment("expires_at").notNull(),
  },
  {
    owner: "tenant",
    ends: "when the same session of the console begins another one",
    purge: { by: "expiresAt" },
    exported: { because: "Rows live for minutes." },
    keyed: {
      sealedResult: sealed("the result of a test sign-in", "provider test {tenantId} {id}", "expiry"),
    },
    grows: false,
  },
  (table) => [
    primaryKey({ columns: [table.tenantId, table.id] }),
    uniqueIndex("provider_tests_session").on(table.tenantId, table.consoleSessionId),
    index("provider_tests_expires_at").on(table.expiresAt),
  ],
);

/** The links by which a service without operators gets its first one. */
export const consoleInvitations = declareTable(
  "console_invitations",
  {
    /** SHA-256 of the token in the link. */
    tokenHash: bytes("token_hash").primaryKey(),
    createdAt: createdAt(),
    expiresAt: moment("expires_at").notNull(),
  },
  {
    owner: "deployment",
    ends: "when the link is used",
    purge: { by: "expiresAt" },
    grows: false,
  },
  (table) => [index("console_invitations_expires_at").on(table.expiresAt)],
);

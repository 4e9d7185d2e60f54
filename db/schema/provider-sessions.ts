import { index, primaryKey, text, uniqueIndex, uuid } from "drizzle-orm/pg-core";
import { bytes, createdAt, deletedWith, isSet, moment, tenantId } from "./columns.ts";
import { sessions } from "./sessions.ts";
import { declareTable, sealed } from "./table.ts";
import { tenants } from "./tenants.ts";

/**
 * Sessions at identity providers that a sign-out ends too. A row is made when its user returns from the provider, belongs to
 * the session that the sign-in issues, and outlives it for as long as the browser may take to come back from the sign-out at
 * the provider.
 */
export const providerSessions = declareTable(
  "provider_sessions",
  {
    tenantId: tenantId().references(() => tenants.id, { onDelete: "cascade" }),
    id: uuid("id").notNull(),
    /** As `provider` of an identity. */
    provider: text("provider").notNull(),
    /** Null before there is a session, and after the sign-out. */
    sessionId: uuid("session_id"),
    /** Without a session: the hash of the exchange token, or a hash of that once the provider has ended the session; then that of the `state` of the sign-out. */
    handleHash: bytes("handle_hash"),
    /** The hash of the name identifier by which a SAML provider asks for the end of the session. */
    nameIdHash: bytes("name_id_hash"),
    /** What the provider knows the session by, as sealed JSON. */
    sealed: bytes("sealed").notNull(),
    /** Where the browser goes on after the sign-out; null for a page of this service. */
    redirectTo: text("redirect_to"),
    createdAt: createdAt(),
    /** Null while a session has it. */
    expiresAt: moment("expires_at"),
  },
  {
    owner: "account",
    purge: { by: "expiresAt" },
    ends: "with its session, and when the browser is back from the sign-out at the provider",
    exported: { because: "Users sign in again." },
    ofDeletedAccounts:
      "what the provider knows a session by, for a day, if its sign-in or sign-out was not finished",
    keyed: { sealed: sealed("a session at a provider", "provider session {tenantId} {id}") },
  },
  (table) => [
    primaryKey({ columns: [table.tenantId, table.id] }),
    uniqueIndex("provider_sessions_session")
      .on(table.tenantId, table.sessionId)
      .where(isSet(table.sessionId)),
    uniqueIndex("provider_sessions_handle")
      .on(table.tenantId, table.handleHash)
      .where(isSet(table.handleHash)),
    index("provider_sessions_name_id")
      .on(table.tenantId, table.provider, table.nameIdHash)
      .where(isSet(table.nameIdHash)),
    index("provider_sessions_expires_at").on(table.expiresAt).where(isSet(table.expiresAt)),
    deletedWith(sessions, table.tenantId, table.sessionId),
  ],
);

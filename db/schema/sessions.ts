import { foreignKey, index, jsonb, pgTable, primaryKey, text, uuid } from "drizzle-orm/pg-core";
import { bytes, createdAt, moment, tenantId } from "./columns.ts";
import { users } from "./users.ts";

/** How a person proved who they are. */
export interface Factor {
  method:
    | "password"
    | "passcode"
    | "passkey"
    | "third_party"
    | "registration"
    | "totp"
    | "security_key"
    | "authenticator"
    | "recovery_code";
  /** ISO 8601 */
  at: string;
  /** For passkeys: whether the authenticator verified the person. */
  userVerified?: boolean | undefined;
  /** For third parties: which one. */
  provider?: string | undefined;
}

export const sessions = pgTable(
  "sessions",
  {
    tenantId: tenantId(),
    id: uuid("id").notNull(),
    userId: uuid("user_id").notNull(),
    authenticatedAt: moment("authenticated_at").notNull(),
    factors: jsonb("factors").notNull().$type<Factor[]>(),
    /** What the session's token says of them. */
    amr: text("amr").array().notNull(),
    ipAddress: text("ip_address"),
    userAgent: text("user_agent"),
    createdAt: createdAt(),
    lastUsedAt: moment("last_used_at").notNull(),
    expiresAt: moment("expires_at").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.tenantId, table.id] }),
    index("sessions_user").on(table.tenantId, table.userId),
    index("sessions_expires_at").on(table.expiresAt),
    foreignKey({
      columns: [table.tenantId, table.userId],
      foreignColumns: [users.tenantId, users.id],
    }).onDelete("cascade"),
  ],
);

/** One-time codes that hand a session over to an application on another host; see RFC 7636 for the challenge. */
export const handoverCodes = pgTable(
  "handover_codes",
  {
    tenantId: tenantId(),
    codeHash: bytes("code_hash").notNull(),
    sessionId: uuid("session_id").notNull(),
    codeChallenge: text("code_challenge").notNull(),
    redirectTo: text("redirect_to").notNull(),
    expiresAt: moment("expires_at").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.tenantId, table.codeHash] }),
    foreignKey({
      columns: [table.tenantId, table.sessionId],
      foreignColumns: [sessions.tenantId, sessions.id],
    }).onDelete("cascade"),
  ],
);

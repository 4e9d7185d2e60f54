import { boolean, index, jsonb, primaryKey, text, uuid } from "drizzle-orm/pg-core";
import { bytes, createdAt, deletedWith, moment, tenantId } from "./columns.ts";
import type { ConsoleRole } from "./console-role.ts";
import { declareTable } from "./table.ts";
import { users } from "./users.ts";

/** A factor that authenticated the user. */
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
    | "recovery_code"
    | "sms";
  /** ISO 8601 */
  at: string;
  /** For passkeys: whether the authenticator verified the user. */
  userVerified?: boolean | undefined;
  /** For passkeys and security keys: whether the key is proved to stay in a hardware authenticator. */
  hardwareProtected?: boolean | undefined;
  /** For third parties: the provider. */
  provider?: string | undefined;
}

/** The public key of a browser that a session is bound to: the members that a key needs (RFC 7518, 6.2 and 6.3). */
export type BoundKey =
  | { kty: "EC"; crv: string; x: string; y: string }
  | { kty: "RSA"; n: string; e: string };

/** The account of the console that acts in a session in place of its user. */
export interface Impersonation {
  /** The account, and its tenant. */
  tenantId: string;
  userId: string;
  /** Whether that is the default tenant, where the configuration gives roles. */
  ofDefaultTenant: boolean;
  /** `iss` of tokens of that tenant (RFC 8693, 4.1). */
  issuer: string;
  role: ConsoleRole;
  /** The primary address or the username; the id for an account without either. */
  name: string;
  /** The session of the console that it was begun in, with which it ends. */
  consoleSessionId: string;
  /** Why, in the words of the account. */
  reason: string;
}

export const sessions = declareTable(
  "sessions",
  {
    tenantId: tenantId(),
    id: uuid("id").notNull(),
    userId: uuid("user_id").notNull(),
    authenticatedAt: moment("authenticated_at").notNull(),
    factors: jsonb("factors").notNull().$type<Factor[]>(),
    /** The `amr` claim of the session's token (RFC 8176). */
    amr: text("amr").array().notNull(),
    ipAddress: text("ip_address"),
    userAgent: text("user_agent"),
    /** The user asked to stay signed in on this browser. */
    rememberMe: boolean("remember_me").notNull().default(false),
    createdAt: createdAt(),
    lastUsedAt: moment("last_used_at").notNull(),
    expiresAt: moment("expires_at").notNull(),
    /** The key that a browser has registered for the session, and when. These and the following are null until then. */
    boundKey: jsonb("bound_key").$type<BoundKey>(),
    boundAt: moment("bound_at"),
    /** SHA-256 of the value of the bound cookie, and when the browser lets it expire. */
    boundHash: bytes("bound_hash"),
    boundUntil: moment("bound_until"),
    /** The one before it, which requests under way still carry, and until when they may. */
    previousBoundHash: bytes("previous_bound_hash"),
    previousBoundUntil: moment("previous_bound_until"),
    /** When the newest challenge was issued that a proof was accepted for: earlier ones are used up. */
    boundChallengeAt: moment("bound_challenge_at"),
    /** When a request without the bound cookie was last recorded. */
    bindingRejectedAt: moment("binding_rejected_at"),
    /** Null for sessions of users. */
    impersonation: jsonb("impersonation").$type<Impersonation>(),
  },
  {
    owner: "account",
    revoked: "event",
    // Not by a rule of the purge, because the end of a session is an event: see `server/sessions/expired-sessions.ts`.
    ends: "at `expires_at`, after `session.idle_timeout` without use, at sign-out, and beyond `session.limit`",
    exported: { because: "Users sign in again: sessions are bound to this service's keys." },
  },
  (table) => [
    primaryKey({ columns: [table.tenantId, table.id] }),
    index("sessions_user").on(table.tenantId, table.userId),
    index("sessions_expires_at").on(table.expiresAt),
    deletedWith(users, table.tenantId, table.userId),
  ],
);

/** Authorization codes that give a session to an application on another host. The challenge is that of RFC 7636. */
export const authorizationCodes = declareTable(
  "handover_codes",
  {
    tenantId: tenantId(),
    codeHash: bytes("code_hash").notNull(),
    sessionId: uuid("session_id").notNull(),
    codeChallenge: text("code_challenge").notNull(),
    /** Empty for a code that the answer of a flow carried. */
    redirectTo: text("redirect_to").notNull(),
    expiresAt: moment("expires_at").notNull(),
  },
  {
    owner: "account",
    ends: "when the code is redeemed, or with the session",
    purge: { by: "expiresAt" },
    exported: { because: "Rows live for a minute." },
  },
  (table) => [
    primaryKey({ columns: [table.tenantId, table.codeHash] }),
    index("handover_codes_session").on(table.tenantId, table.sessionId),
    index("handover_codes_expires_at").on(table.expiresAt),
    deletedWith(sessions, table.tenantId, table.sessionId),
  ],
);

import { and, eq, gt, sql } from "drizzle-orm";
import { type Databases, schema } from "#db/client";
import { databaseNow } from "#db/clock";
import { violatedForeignKey } from "#db/errors";
import { positionText } from "#db/log-position";
import type { Configured } from "../config/schema.ts";
import type { Tenant } from "../config/tenant.ts";
import type { Replicated } from "../database/replicas.ts";
import { type ConsoleRole, roleColumns, roleOf } from "../identity/console-roles.ts";
import type { OnPlatform } from "../lib/platform.ts";
import { randomToken } from "../lib/random-token.ts";
import { sha256 } from "../lib/sha256.ts";

/**
 * The sessions of the console. Each is entered by a sign-in and ends with the session of that sign-in, so that whatever ends
 * sessions ends these; it has a token of its own, which no address outside the console accepts.
 */

const { consoleSessions, sessions, users } = schema;

/** What this module takes of the process. */
type Process = Databases & Configured & OnPlatform & { tenant: Pick<Tenant, "id"> };

/** An account that is signed in to the console. */
export interface ConsoleVisitor {
  /** The tenant of the account. */
  tenantId: string;
  userId: string;
  /** The id of its session of the console. */
  consoleSessionId: string;
  role: ConsoleRole;
  /** When the account signed in. */
  authenticatedAt: Date;
  /** When it has to sign in again, if it stays busy. */
  expiresAt: Date;
  /** The time of the request. */
  now: Date;
  /** Of the primary at that time, for reads at replicas; null if there are none. */
  position: string | null;
}

/** The time of last use is written at most once in this time. */
const TOUCH_INTERVAL_MS = 60_000;

/** A token of a session has 256 bits in base64url. */
const tokenPattern = /^[A-Za-z0-9_-]{43}$/;

/**
 * Makes a session of the console.
 *
 * @param entered the session of the sign-in
 * @returns the token for the cookie; null if that session has ended meanwhile
 */
export async function makeConsoleSession(
  { database, config, platform }: Process,
  { id: tenantId }: Pick<Tenant, "id">,
  entered: { sessionId: string; now: Date },
): Promise<string | null> {
  const token = randomToken(platform);
  const { now, sessionId } = entered;
  const expiresAt = new Date(now.getTime() + config.console.session_lifetime * 1000);
  const row = { tenantId, id: platform.uuid(), sessionId, tokenHash: sha256(token) };
  try {
    await database.write
      .insert(consoleSessions)
      .values({ ...row, createdAt: now, lastUsedAt: now, expiresAt });
    return token;
  } catch (error) {
    if (violatedForeignKey(error)) return null;
    throw error;
  }
}

/**
 * Finds the account that a token names, and counts the call as use.
 *
 * @param token untrusted, of any length
 * @returns null if the session has ended or was idle for too long, or the account is blocked or has no role any more
 */
export async function findConsoleVisitor(
  runtime: Process & Replicated,
  token: string,
): Promise<ConsoleVisitor | null> {
  if (!tokenPattern.test(token)) return null;
  const { database, config, platform, replicas } = runtime;
  const now = databaseNow(platform.clockShift());
  const [row] = await database.read
    .select({
      tenantId: consoleSessions.tenantId,
      id: consoleSessions.id,
      lastUsedAt: consoleSessions.lastUsedAt,
      expiresAt: consoleSessions.expiresAt,
      userId: sessions.userId,
      authenticatedAt: sessions.authenticatedAt,
      blockedAt: users.blockedAt,
      now: sql<Date>`${now}`.mapWith(consoleSessions.expiresAt).as("now"),
      position: sql<string | null>`${sql.raw(replicas.areConfigured ? positionText : "null")}`.as("position"),
      ...roleColumns,
    })
    .from(consoleSessions)
    .innerJoin(
      sessions,
      and(eq(sessions.tenantId, consoleSessions.tenantId), eq(sessions.id, consoleSessions.sessionId)),
    )
    .innerJoin(users, and(eq(users.tenantId, sessions.tenantId), eq(users.id, sessions.userId)))
    .where(
      and(
        eq(consoleSessions.tokenHash, sha256(token)),
        gt(consoleSessions.expiresAt, now),
        gt(sessions.expiresAt, now),
      ),
    );
  if (!row || row.blockedAt) return null;
  const idleMs = row.now.getTime() - row.lastUsedAt.getTime();
  if (idleMs > config.console.idle_timeout * 1000) return null;
  const role = roleOf(runtime, row.tenantId, row);
  if (role === null) return null;
  if (idleMs > TOUCH_INTERVAL_MS)
    await database.write
      .update(consoleSessions)
      .set({ lastUsedAt: row.now })
      .where(and(eq(consoleSessions.tenantId, row.tenantId), eq(consoleSessions.id, row.id)));
  const { tenantId, userId, authenticatedAt, expiresAt, position } = row;
  return {
    tenantId,
    userId,
    consoleSessionId: row.id,
    role,
    authenticatedAt,
    expiresAt,
    now: row.now,
    position,
  };
}

/** Ends the session that a token names, if there is one. */
export async function endConsoleSession({ database }: Databases, token: string): Promise<void> {
  if (!tokenPattern.test(token)) return;
  await database.write.delete(consoleSessions).where(eq(consoleSessions.tokenHash, sha256(token)));
}

import { createHash, timingSafeEqual } from "node:crypto";
import { and, eq, gt, sql } from "drizzle-orm";
import { schema } from "#db/client";
import { databaseNow } from "#db/clock";
import type { Runtime } from "../runtime.ts";
import type { Tenant } from "../tenants/tenant.ts";
import type { Session } from "./session.ts";
import { findSession } from "./sessions.ts";

/**
 * Handing a session over to an application on another host: a one-time code in the address that the browser is sent
 * back to, which only the server that made the code challenge can redeem (RFC 7636).
 */

const { handoverCodes, sessions } = schema;

const lifeSeconds = 60;

/** An S256 `code_challenge`: 32 bytes in base64url (RFC 7636, 4.2). */
export const codeChallengePattern = /^[A-Za-z0-9_-]{43}$/;

/** A `code_verifier` (RFC 7636, 4.1). */
export const codeVerifierPattern = /^[A-Za-z0-9._~-]{43,128}$/;

/**
 * Makes a code.
 *
 * @param redirectTo where the browser takes the code; already found to be allowed
 * @returns the code, 43 characters of base64url; null when the session has ended
 */
export async function issueAuthorizationCode(
  { database, platform }: Runtime,
  tenant: Tenant,
  { sessionId, codeChallenge, redirectTo }: { sessionId: string; codeChallenge: string; redirectTo: string },
): Promise<string | null> {
  const code = platform.randomBytes(32).toString("base64url");
  const now = databaseNow(platform.clockShift());
  const session = database.write
    .select({
      tenantId: sessions.tenantId,
      codeHash: sql`${sha256(code)}::bytea`.as("code_hash"),
      sessionId: sql`${sessions.id}`.as("session_id"),
      codeChallenge: sql`${codeChallenge}::text`.as("code_challenge"),
      redirectTo: sql`${redirectTo}::text`.as("redirect_to"),
      expiresAt: sql`${now} + ${lifeSeconds}::int * interval '1 second'`.as("expires_at"),
    })
    .from(sessions)
    .where(and(eq(sessions.tenantId, tenant.id), eq(sessions.id, sessionId), gt(sessions.expiresAt, now)));
  const written = await database.write
    .insert(handoverCodes)
    .select(session)
    .returning({ sessionId: handoverCodes.sessionId });
  return written.length > 0 ? code : null;
}

/**
 * Takes a code. It is spent whether or not the verifier fits: a code that came with a wrong one has been seen by
 * somebody else.
 *
 * @returns the live session that the code stands for, and where the code was sent; null whatever is wrong
 */
export async function redeemAuthorizationCode(
  runtime: Runtime,
  tenant: Tenant,
  { code, codeVerifier }: { code: string; codeVerifier: string },
): Promise<{ session: Session; redirectTo: string; now: Date } | null> {
  const { database, platform } = runtime;
  if (!codeVerifierPattern.test(codeVerifier)) return null;
  const [taken] = await database.write
    .delete(handoverCodes)
    .where(and(eq(handoverCodes.tenantId, tenant.id), eq(handoverCodes.codeHash, sha256(code))))
    .returning({
      sessionId: handoverCodes.sessionId,
      codeChallenge: handoverCodes.codeChallenge,
      redirectTo: handoverCodes.redirectTo,
      inTime: sql<boolean>`${handoverCodes.expiresAt} > ${databaseNow(platform.clockShift())}`,
    });
  if (!taken?.inTime) return null;
  // RFC 7636, 4.6, with S256 alone: BASE64URL(SHA256(ASCII(code_verifier))) == code_challenge
  const challenge = Buffer.from(sha256(codeVerifier).toString("base64url"));
  const expected = Buffer.from(taken.codeChallenge);
  if (challenge.length !== expected.length || !timingSafeEqual(challenge, expected)) return null;
  const found = await findSession(runtime, tenant, taken.sessionId);
  return found?.live ? { session: found.session, redirectTo: taken.redirectTo, now: found.now } : null;
}

/** Whether a code of the session has not been redeemed yet. */
export async function hasUnredeemedCode(
  { database }: Pick<Runtime, "database">,
  { id: tenantId }: Pick<Tenant, "id">,
  sessionId: string,
): Promise<boolean> {
  const found = await database.write
    .select({ sessionId: handoverCodes.sessionId })
    .from(handoverCodes)
    .where(codesOf(tenantId, sessionId));
  return found.length > 0;
}

/** Deletes the session's code. Returns false if it was redeemed before, or concurrently. */
export async function withdrawCode(
  { database }: Pick<Runtime, "database">,
  { id: tenantId }: Pick<Tenant, "id">,
  sessionId: string,
): Promise<boolean> {
  const deleted = await database.write
    .delete(handoverCodes)
    .where(codesOf(tenantId, sessionId))
    .returning({ sessionId: handoverCodes.sessionId });
  return deleted.length > 0;
}

const codesOf = (tenantId: string, sessionId: string) =>
  and(eq(handoverCodes.tenantId, tenantId), eq(handoverCodes.sessionId, sessionId));

function sha256(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

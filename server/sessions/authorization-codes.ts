import { and, eq, gt, sql } from "drizzle-orm";
import { type Databases, schema, type Transaction } from "#db/client";
import { databaseNow } from "#db/clock";
import type { Write } from "#db/write";
import type { Tenant } from "../config/tenant.ts";
import type { TenantContext } from "../context/context.ts";
import type { WakesWebhooks } from "../events/emit.ts";
import type { Signing } from "../keys/tenant-signing-keys.ts";
import { codeVerifierPattern, isVerifierOf } from "../lib/pkce.ts";
import type { OnPlatform } from "../lib/platform.ts";
import { randomToken } from "../lib/random-token.ts";
import { sha256 } from "../lib/sha256.ts";
import type { Session } from "../objects/session.ts";
import type { Logs } from "../observability/logger.ts";
import { findSession } from "./sessions.ts";

/** What this module takes of the process. */
type Process = OnPlatform & Databases & Logs & Signing & WakesWebhooks;

/**
 * Authorization codes that pass a session to an application on another host: a one-time code, in the redirect URL or in
 * the last answer of the flow, which only the server that created the code challenge can redeem (RFC 7636).
 */

const { authorizationCodes, sessions } = schema;

const LIFETIME_SECONDS = 60;

interface NewCode {
  sessionId: string;
  /** S256 (RFC 7636, 4.2) */
  codeChallenge: string;
  /** The URL that receives the code, which the caller has checked; none if the answer of a flow carries it. */
  redirectTo?: string;
}

/**
 * Issues a code for a session.
 *
 * @returns the code, 43 characters of base64url; null if the session has ended
 */
export async function issueAuthorizationCode(
  runtime: Process,
  tenant: Tenant,
  issued: NewCode,
): Promise<string | null> {
  const { code, insertInto } = newCode({ runtime, tenant }, issued);
  return (await insertInto(runtime.database.write)) ? code : null;
}

/** Makes a code for a session that is issued in the same transaction. It is valid once `write` has inserted it. */
export function prepareAuthorizationCode(
  context: TenantContext<Process>,
  prepared: NewCode,
): { code: string; write: Write } {
  const { code, insertInto } = newCode(context, prepared);
  return { code, write: async (tx) => void (await insertInto(tx)) };
}

function newCode(
  { runtime: { platform }, tenant }: TenantContext<Process>,
  { sessionId, codeChallenge, redirectTo = "" }: NewCode,
): { code: string; insertInto: (database: Transaction | Process["database"]["write"]) => Promise<boolean> } {
  const code = randomToken(platform);
  const now = databaseNow(platform.clockShift());
  return {
    code,
    async insertInto(database) {
      const session = database
        .select({
          tenantId: sessions.tenantId,
          codeHash: sql`${sha256(code)}::bytea`.as("code_hash"),
          sessionId: sql`${sessions.id}`.as("session_id"),
          codeChallenge: sql`${codeChallenge}::text`.as("code_challenge"),
          redirectTo: sql`${redirectTo}::text`.as("redirect_to"),
          expiresAt: sql`${now} + ${LIFETIME_SECONDS}::int * interval '1 second'`.as("expires_at"),
        })
        .from(sessions)
        .where(
          and(eq(sessions.tenantId, tenant.id), eq(sessions.id, sessionId), gt(sessions.expiresAt, now)),
        );
      // Not by `returning`: Citus writes the name of a table there that the statement for the node does not have.
      const { rowCount } = await database.insert(authorizationCodes).select(session);
      return rowCount === 1;
    },
  };
}

/**
 * Redeems a code. The code is consumed even if the verifier does not match, because a wrong verifier means that it has
 * leaked.
 *
 * @returns the live session of the code, and the URL it was sent to or the empty string; null if the code is rejected
 */
export async function redeemAuthorizationCode(
  runtime: Process,
  tenant: Tenant,
  { code, codeVerifier }: { code: string; codeVerifier: string },
): Promise<{ session: Session; redirectTo: string; now: Date } | null> {
  const { database, platform } = runtime;
  if (!codeVerifierPattern.test(codeVerifier)) return null;
  const deleted = database.write.$with("deleted").as(
    database.write
      .delete(authorizationCodes)
      .where(and(eq(authorizationCodes.tenantId, tenant.id), eq(authorizationCodes.codeHash, sha256(code))))
      .returning({
        sessionId: authorizationCodes.sessionId,
        codeChallenge: authorizationCodes.codeChallenge,
        redirectTo: authorizationCodes.redirectTo,
        expiresAt: authorizationCodes.expiresAt,
      }),
  );
  // The clock is not asked by `returning`, which Citus refuses.
  const [redeemed] = await database.write
    .with(deleted)
    .select({
      sessionId: deleted.sessionId,
      codeChallenge: deleted.codeChallenge,
      redirectTo: deleted.redirectTo,
      inTime: sql<boolean>`${deleted.expiresAt} > ${databaseNow(platform.clockShift())}`,
    })
    .from(deleted);
  if (!redeemed?.inTime || !isVerifierOf(redeemed.codeChallenge, codeVerifier)) return null;
  const found = await findSession(runtime, tenant, redeemed.sessionId);
  return found?.live ? { session: found.session, redirectTo: redeemed.redirectTo, now: found.now } : null;
}

/** Whether a code of the session has not been redeemed yet. */
export async function hasUnredeemedAuthorizationCode(
  { database }: Databases,
  { id: tenantId }: Pick<Tenant, "id">,
  sessionId: string,
): Promise<boolean> {
  const found = await database.write
    .select({ sessionId: authorizationCodes.sessionId })
    .from(authorizationCodes)
    .where(codesOf(tenantId, sessionId));
  return found.length > 0;
}

/** Deletes the session's code. Returns false if it was redeemed before, or concurrently. */
export async function revokeAuthorizationCode(
  { database }: Databases,
  { id: tenantId }: Pick<Tenant, "id">,
  sessionId: string,
): Promise<boolean> {
  const deleted = await database.write
    .delete(authorizationCodes)
    .where(codesOf(tenantId, sessionId))
    .returning({ sessionId: authorizationCodes.sessionId });
  return deleted.length > 0;
}

const codesOf = (tenantId: string, sessionId: string) =>
  and(eq(authorizationCodes.tenantId, tenantId), eq(authorizationCodes.sessionId, sessionId));

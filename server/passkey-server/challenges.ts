import { and, eq, inArray, sql } from "drizzle-orm";
import { schema, type Transaction } from "#db/client";
import { databaseNow } from "#db/clock";
import { randomToken } from "../lib/random-token.ts";
import type { RequestContext } from "../runtime.ts";

/** The purpose of a challenge. A response to one operation is not accepted for another. */
export type Operation = "registration" | "mfa_registration" | "login" | "mfa_login" | "transaction";

export interface NewChallenge {
  operation: Operation;
  /** base64url; see `newChallenge`. */
  challenge: string;
  /** Internal id of the user; null if the credential determines it. */
  userId: string | null;
  /** Ids of the credentials that may respond; null for any. */
  allowed: readonly string[] | null;
  /** The requirement at the time of the request; later changes of the configuration do not affect it. */
  userVerification: UserVerificationRequirement;
  /** Internal id of the transaction that the challenge commits to. */
  transactionId: string | null;
  /** Lifetime, and the timeout of the browser prompt. */
  seconds: number;
}

/** A challenge that was consumed and no longer exists in the database. */
export interface ConsumedChallenge extends Omit<NewChallenge, "seconds"> {
  /** Whether it had expired; its response must be rejected. */
  expired: boolean;
}

const { passkeyChallenges: table } = schema;

/** Returns 32 random bytes in base64url, 43 characters. */
export function newChallenge({ runtime }: Pick<RequestContext, "runtime">): string {
  return randomToken(runtime.platform);
}

/** Stores a challenge. A user may have several open challenges; each accepts one response. */
export async function openChallenge(
  tx: Transaction,
  { runtime, tenant }: Pick<RequestContext, "runtime" | "tenant">,
  { seconds, allowed, ...challenge }: NewChallenge,
): Promise<void> {
  const now = databaseNow(runtime.platform.clockShift());
  await tx.insert(table).values({
    ...challenge,
    tenantId: tenant.id,
    allowed: allowed && [...allowed],
    expiresAt: sql`${now} + ${seconds}::int * interval '1 second'`,
  });
}

/**
 * Consumes a challenge and commits at once, so that it accepts one response, even if that is rejected.
 *
 * @param operations accepted operations; a challenge of another operation stays open
 * @param challenge as stated in the client data
 * @returns null if the tenant has no such open challenge
 */
export async function consumeChallenge(
  { runtime, tenant }: Pick<RequestContext, "runtime" | "tenant">,
  operations: readonly Operation[],
  challenge: string,
): Promise<ConsumedChallenge | null> {
  const now = databaseNow(runtime.platform.clockShift());
  const [consumed] = await runtime.database.write
    .delete(table)
    .where(
      and(
        eq(table.tenantId, tenant.id),
        eq(table.challenge, challenge),
        inArray(table.operation, [...operations]),
      ),
    )
    .returning({
      operation: table.operation,
      challenge: table.challenge,
      userId: table.userId,
      allowed: table.allowed,
      userVerification: table.userVerification,
      transactionId: table.transactionId,
      expired: sql<boolean>`${table.expiresAt} <= ${now}`,
    });
  return (consumed as ConsumedChallenge | undefined) ?? null;
}

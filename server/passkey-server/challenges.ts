import { and, eq, inArray, sql } from "drizzle-orm";
import { schema, type Transaction } from "#db/client";
import { databaseNow } from "#db/clock";
import type { RequestContext } from "../runtime.ts";

/** What a challenge was opened for. An answer to one operation is none to another. */
export type Operation = "registration" | "mfa_registration" | "login" | "mfa_login" | "transaction";

export interface NewChallenge {
  operation: Operation;
  /** base64url; see `newChallenge`. */
  challenge: string;
  /** Internal id of the user; null where the credential will tell. */
  userId: string | null;
  /** Ids of the credentials that the answer may come from; null for any. */
  allowed: readonly string[] | null;
  /** What is asked of the authenticator now, whatever is configured when it answers. */
  userVerification: UserVerificationRequirement;
  /** Internal id of the transaction that it commits to. */
  transactionId: string | null;
  /** Life, and the time that the browser gives the person. */
  seconds: number;
}

/** A challenge that is gone. */
export interface TakenChallenge extends Omit<NewChallenge, "seconds"> {
  /** Whether it was taken too late: whatever the answer is, it is refused. */
  expired: boolean;
}

const { passkeyChallenges: table } = schema;

/** 32 random bytes, base64url: 43 characters. */
export function newChallenge({ runtime }: Pick<RequestContext, "runtime">): string {
  return runtime.platform.randomBytes(32).toString("base64url");
}

/** Opens a challenge. Several may be open at once; each is good for one answer. */
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
 * Takes a challenge, for good and at once: whatever comes of the answer, there is no second one to it.
 *
 * @param operations those that the answer may be of; a challenge of any other stays open
 * @param challenge as the client's data names it
 * @returns null when this tenant has no such challenge open
 */
export async function takeChallenge(
  { runtime, tenant }: Pick<RequestContext, "runtime" | "tenant">,
  operations: readonly Operation[],
  challenge: string,
): Promise<TakenChallenge | null> {
  const now = databaseNow(runtime.platform.clockShift());
  const [taken] = await runtime.database.write
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
  return (taken as TakenChallenge | undefined) ?? null;
}

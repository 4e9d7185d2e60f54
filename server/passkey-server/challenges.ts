import { schema } from "#db/client";
import { clockText } from "#db/clock";
import { type JsonRow, rowOfJson } from "#db/json-row";
import type { Part } from "#db/part";
import { runTogether } from "#db/together";
import { type WriteOfParts, writeOf } from "#db/write";
import type { RequestContext, TenantContext } from "../context/context.ts";
import { type PasskeyRejection, rejectPasskeyRequest } from "../failures/passkey-server.ts";
import { randomToken } from "../lib/random-token.ts";
import type { Process } from "./process.ts";

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

const { passkeyChallenges: table, passkeyTransactions } = schema;

export type TransactionRow = typeof passkeyTransactions.$inferSelect;

/** Counts a challenge for a client without an API key; a rejection if its source has asked for too many. */
export async function rejectTooManyChallenges({
  runtime,
  tenant,
  client,
}: RequestContext<Process>): Promise<PasskeyRejection | null> {
  const rate = await runtime.rates.consume(tenant.id, "passkey_challenge", client.source);
  return rate.ok
    ? null
    : rejectPasskeyRequest("too_many_challenges", { retryAfterSeconds: rate.retryAfterSeconds });
}

/** Returns 32 random bytes in base64url, 43 characters. */
export function newChallenge({ runtime }: Pick<RequestContext<Process>, "runtime">): string {
  return randomToken(runtime.platform);
}

const openText = `challenge_opened as (
  insert into passkey_challenges
    (tenant_id, challenge, operation, user_id, user_verification, allowed, transaction_id, expires_at)
  values ($1, $2, $3, $4, $5, $6, $7,
    ${clockText("$8")} + $9::int * interval '1 second'))`;

/** Returns the write of a challenge. A user may have several open challenges; each accepts one response. */
export function openChallenge(
  { runtime, tenant }: TenantContext<Process>,
  { operation, challenge, userId, allowed, userVerification, transactionId, seconds }: NewChallenge,
): WriteOfParts {
  return writeOf({
    name: "challenge_opened",
    text: openText,
    values: [
      tenant.id,
      challenge,
      operation,
      userId,
      userVerification,
      allowed,
      transactionId,
      runtime.platform.clockShift(),
      seconds,
    ],
  });
}

/** The clock is asked beside the deletion, because Citus refuses it in `returning`. */
const consumeText = `removed as (
  delete from passkey_challenges
  where tenant_id = $1 and challenge = $2 and operation = any($3::text[])
  returning *),
consumed as (select *, expires_at <= ${clockText("$4")} as expired from removed)`;

/** What `consumePart` returns. */
interface Consumed {
  challenge_consumed: JsonRow | null;
}

function consumePart(
  { runtime, tenant }: TenantContext<Process>,
  operations: readonly Operation[],
  challenge: string,
): Part {
  return {
    name: "challenge_consumed",
    text: consumeText,
    values: [tenant.id, challenge, operations, runtime.platform.clockShift()],
    returns: "(select row_to_json(consumed) from consumed)",
  };
}

function consumedChallenge({ challenge_consumed: consumed }: Partial<Consumed>): ConsumedChallenge | null {
  if (!consumed) return null;
  return { ...rowOfJson(table, consumed), expired: consumed.expired } as ConsumedChallenge;
}

/**
 * Consumes a challenge and commits at once, so that it accepts one response, even if that is rejected.
 *
 * @param operations accepted operations; a challenge of another operation stays open
 * @param challenge as stated in the client data
 * @returns null if the tenant has no such open challenge
 */
export async function consumeChallenge(
  context: TenantContext<Process>,
  operations: readonly Operation[],
  challenge: string,
): Promise<ConsumedChallenge | null> {
  const { database } = context.runtime;
  return consumedChallenge(
    await runTogether<Consumed>(database, [consumePart(context, operations, challenge)]),
  );
}

/**
 * Consumes the challenge of a transaction, as `consumeChallenge` does, and reads the transaction.
 *
 * @returns null if the tenant has no such open challenge
 */
export async function consumeTransactionChallenge(
  context: TenantContext<Process>,
  challenge: string,
): Promise<{ consumed: ConsumedChallenge; transaction: TransactionRow } | null> {
  const returned = await runTogether<Consumed & { transaction_of_challenge: JsonRow | null }>(
    context.runtime.database,
    [consumePart(context, ["transaction"], challenge), transactionPart],
  );
  const consumed = consumedChallenge(returned);
  const { transaction_of_challenge: transaction } = returned;
  return consumed && transaction
    ? { consumed, transaction: rowOfJson(passkeyTransactions, transaction) }
    : null;
}

/** Reads the transaction of the challenge that `consumePart` takes. */
const transactionPart: Part = {
  name: "transaction_of_challenge",
  text: "",
  values: [],
  returns: `(select row_to_json(t) from consumed c
    join passkey_transactions t on t.tenant_id = c.tenant_id and t.id = c.transaction_id)`,
};

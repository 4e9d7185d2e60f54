import { and, eq, isNull, type SQL } from "drizzle-orm";
import { type ReadOnly, schema, type Transaction } from "#db/client";
import { ConflictError } from "#db/errors";
import type { RequestContext } from "../runtime.ts";
import type { AuthenticationResponse, ClientData } from "../webauthn/responses.ts";
import { verifyPasskeyAssertion, writeAssertion } from "./assertion.ts";
import { type AuditFacts, auditPasskeys, auditRejection, type Caller } from "./audit.ts";
import { type ConsumedChallenge, consumeChallenge } from "./challenges.ts";
import { readAuthenticationResponse } from "./credential-responses.ts";
import { type PasskeyRejection, rejectPasskeyRequest } from "./errors.ts";
import { signReceipt } from "./receipt-signing.ts";
import { verifyReceipt } from "./receipt-verification.ts";
import { signToken } from "./tokens.ts";

const { passkeyTransactions: table, transactionConfirmations: confirmations } = schema;

export type TransactionRow = typeof table.$inferSelect;

/** What an application receives for a confirmed transaction. */
export interface TransactionProof {
  token: string;
  /** See `receipt.ts`. */
  receipt: string;
}

/**
 * Verifies the response to `initializeTransaction`. The challenge is consumed even if the response is rejected.
 *
 * @param body AuthenticationResponseJSON, unvalidated; no content makes this throw
 */
export async function finalizeTransaction(
  context: RequestContext,
  body: unknown,
): Promise<({ ok: true } & TransactionProof) | PasskeyRejection> {
  const { runtime, tenant } = context;
  const read = readAuthenticationResponse(body);
  if (!read.ok) return rejectPasskeyRequest("malformed_transaction_assertion", { details: read.details });
  const consumed = await consumeChallenge(context, ["transaction"], read.clientData.challenge);
  const transaction =
    consumed && (await findTransaction(runtime.database.read, tenant.id, consumed.transactionId));
  if (!transaction) {
    const rejection = rejectPasskeyRequest("unknown_login_challenge");
    const facts = { credentialId: read.answer.id };
    await auditRejection(context, "webauthn_transaction_final", rejection, facts, "public");
    return rejection;
  }
  const verdict = await verifyTransactionAssertion(
    context,
    { ...read, consumed, transaction },
    "application",
  );
  if (!verdict.ok) return verdict;
  const rejection = await verdict.write();
  return rejection ?? { ok: true, ...verdict.proof };
}

/** The result of a confirmation page, redeemable by a one-time code. */
export interface RedeemableResult {
  codeHash: Buffer;
  sealedResult: Buffer;
  /** Expiry of code and result. */
  expiresAt: SQL;
}

export type TransactionVerdict =
  | {
      ok: true;
      proof: TransactionProof;
      /** Confirms the transaction; a rejection, with nothing written, if it was answered concurrently. */
      write(result?: RedeemableResult): Promise<PasskeyRejection | null>;
    }
  | PasskeyRejection;

/**
 * Verifies the user's response to a transaction, sent by the application or by the confirmation page. Rejections are
 * audited.
 *
 * @param about the parsed response, the challenge that it consumed, and the transaction
 */
export async function verifyTransactionAssertion(
  context: RequestContext,
  about: {
    answer: AuthenticationResponse;
    clientData: ClientData;
    consumed: ConsumedChallenge;
    transaction: TransactionRow;
  },
  caller: Caller,
): Promise<TransactionVerdict> {
  const { answer, transaction } = about;
  const verdict = await verifyPasskeyAssertion(context, about);
  const facts: AuditFacts = {
    actorUserId: verdict.credential?.owner.userId,
    credentialId: answer.id,
    transactionId: transaction.identifier,
  };
  const fail = async (rejection: PasskeyRejection): Promise<PasskeyRejection> => {
    await auditRejection(context, "webauthn_transaction_final", rejection, facts, caller);
    const { ok, reason, error } = rejection;
    return { ok, reason, error };
  };
  if (!verdict.ok) return fail(verdict);

  const { owner, id: credentialId, mfaOnly } = verdict.credential;
  const signer = { userId: owner.userId, credentialId };
  const receipt = await signReceipt(context, { ...signer, transaction, answer });
  if (receipt === null)
    return fail(rejectPasskeyRequest("assertion_rejected", { details: "the credential does not exist" }));
  // Issue no token without a valid receipt: the verification of receipts is stricter in places.
  const receiptVerdict = verifyReceipt(receipt, { jwks: null });
  if (!receiptVerdict.ok)
    return fail(
      rejectPasskeyRequest("assertion_rejected", {
        details: `the receipt would be invalid: ${receiptVerdict.code}`,
      }),
    );
  const token = await signToken(context, {
    ...signer,
    mfaOnly,
    userVerified: verdict.userVerified,
    transactionId: transaction.identifier,
  });
  return {
    ok: true,
    proof: { token, receipt },
    async write(result) {
      const rejection = await writeAssertion(
        context,
        verdict.write,
        (tx) => markConfirmed(tx, context, transaction, result),
        auditPasskeys(context, "webauthn_transaction_final_succeeded", facts),
      );
      return rejection && fail(rejection);
    },
  };
}

/**
 * Marks a transaction as confirmed, and its confirmation page as answered. Each happens once.
 *
 * @throws ConflictError "transaction" if it was confirmed or declined concurrently
 */
async function markConfirmed(
  tx: Transaction,
  { now }: Pick<RequestContext, "now">,
  { tenantId, id }: TransactionRow,
  result: RedeemableResult | undefined,
): Promise<void> {
  const ofTransaction = and(eq(confirmations.tenantId, tenantId), eq(confirmations.transactionId, id));
  const [page] = await tx.select().from(confirmations).where(ofTransaction).for("update");
  if (page?.answeredAt) throw new ConflictError("transaction");
  if (page)
    await tx
      .update(confirmations)
      .set({ ...result, answeredAt: now })
      .where(ofTransaction);
  const marked = await tx
    .update(table)
    .set({ confirmedAt: now, updatedAt: now })
    .where(and(eq(table.tenantId, tenantId), eq(table.id, id), isNull(table.confirmedAt)))
    .returning({ id: table.id });
  if (marked.length === 0) throw new ConflictError("transaction");
}

/** @param id internal */
async function findTransaction(
  db: ReadOnly,
  tenantId: string,
  id: string | null,
): Promise<TransactionRow | null> {
  if (id === null) return null;
  const [found] = await db
    .select()
    .from(table)
    .where(and(eq(table.tenantId, tenantId), eq(table.id, id)));
  return found ?? null;
}

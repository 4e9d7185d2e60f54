import { and, eq, isNull, type SQL } from "drizzle-orm";
import { type ReadOnly, schema, type Transaction } from "#db/client";
import { ConflictError } from "#db/errors";
import type { RequestContext } from "../runtime.ts";
import { verifyPasskeyAssertion, writeAssertion } from "./assertion.ts";
import { type AuditFacts, auditPasskeys, auditRejection, auditUnknownChallenge } from "./audit.ts";
import { type TakenChallenge, takeChallenge } from "./challenges.ts";
import { readAuthenticationResponse } from "./credential-responses.ts";
import { type PasskeyRejection, rejectPasskeyRequest } from "./errors.ts";
import { signReceipt } from "./receipt-signing.ts";
import { verifyReceipt } from "./receipt-verification.ts";
import { signToken } from "./tokens.ts";

const { passkeyTransactions: table, transactionConfirmations: confirmations } = schema;

export type TransactionRow = typeof table.$inferSelect;

/** What an application has of a transaction that its user agreed to. */
export interface TransactionProof {
  token: string;
  /** See `receipt.ts`. */
  receipt: string;
}

/**
 * Takes the answer to `openTransaction`. The challenge is used up, whatever comes of it.
 *
 * @param body AuthenticationResponseJSON, as the client sent it; nothing in it makes this throw
 */
export async function finalizeTransaction(
  context: RequestContext,
  body: unknown,
): Promise<({ ok: true } & TransactionProof) | PasskeyRejection> {
  const { runtime, tenant } = context;
  const read = readAuthenticationResponse(body);
  if (!read) return rejectPasskeyRequest("malformed_transaction_assertion");
  const taken = await takeChallenge(context, ["transaction"], read.clientData.challenge);
  const transaction = taken && (await findTransaction(runtime.database.read, tenant.id, taken.transactionId));
  if (!transaction) {
    const rejection = rejectPasskeyRequest("unknown_login_challenge");
    const facts = { credentialId: read.answer.id };
    await auditUnknownChallenge(context, "webauthn_transaction_final", rejection, facts);
    return rejection;
  }
  const judged = await verifyTransactionAssertion(context, { ...read, taken, transaction });
  if (!judged.ok) return judged;
  const rejection = await judged.write();
  return rejection ?? { ok: true, ...judged.proof };
}

/** What a page that asks about a transaction leaves behind when the user has agreed. */
export interface RedeemableResult {
  codeHash: Buffer;
  sealedResult: Buffer;
  /** When both are good for nothing any more. */
  expiresAt: SQL;
}

export type TransactionVerdict =
  | {
      ok: true;
      proof: TransactionProof;
      /** Writes it, once: a refusal, with nothing written, when somebody else was faster. */
      write(result?: RedeemableResult): Promise<PasskeyRejection | null>;
    }
  | PasskeyRejection;

/**
 * Judges the answer of a user to a transaction, whoever asked them. What is refused is noted.
 *
 * @param about what was read from the body, the challenge that it took, and the transaction it commits to
 */
export async function verifyTransactionAssertion(
  context: RequestContext,
  about: NonNullable<ReturnType<typeof readAuthenticationResponse>> & {
    taken: TakenChallenge;
    transaction: TransactionRow;
  },
): Promise<TransactionVerdict> {
  const { answer, transaction } = about;
  const judged = await verifyPasskeyAssertion(context, about);
  const facts: AuditFacts = {
    actorUserId: judged.credential?.owner.userId,
    credentialId: answer.id,
    transactionId: transaction.identifier,
  };
  const fail = async (rejection: PasskeyRejection): Promise<PasskeyRejection> => {
    await auditRejection(context, "webauthn_transaction_final", rejection, facts);
    const { ok, reason, error } = rejection;
    return { ok, reason, error };
  };
  if (!judged.ok) return fail(judged);

  const { owner, id: credentialId } = judged.credential;
  const signer = { userId: owner.userId, credentialId };
  const receipt = await signReceipt(context, { ...signer, transaction, answer });
  if (receipt === null)
    return fail(rejectPasskeyRequest("assertion_rejected", { details: "there is no such credential" }));
  // Nobody has a token without a receipt that holds: where its verification is stricter, that counts.
  const verdict = verifyReceipt(receipt, { jwks: null });
  if (!verdict.ok)
    return fail(
      rejectPasskeyRequest("assertion_rejected", { details: `its receipt would not hold: ${verdict.code}` }),
    );
  const token = await signToken(context, { ...signer, transactionId: transaction.identifier });
  return {
    ok: true,
    proof: { token, receipt },
    async write(result) {
      const rejection = await writeAssertion(
        context,
        judged.write,
        (tx) => markConfirmed(tx, context, transaction, result),
        auditPasskeys(context, "webauthn_transaction_final_succeeded", facts),
      );
      return rejection && fail(rejection);
    },
  };
}

/**
 * Marks a transaction as agreed to, and a page that asks about it as answered. Either happens once.
 *
 * @throws TakenError "transaction" when it was agreed to or declined meanwhile
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

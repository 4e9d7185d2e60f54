import { clockText } from "#db/clock";
import type { Part } from "#db/part";
import { writeOf } from "#db/write";
import type { RequestContext } from "../context/context.ts";
import { type PasskeyRejection, rejectPasskeyRequest } from "../failures/passkey-server.ts";
import type { AuthenticationResponse, ClientData } from "../webauthn/responses.ts";
import { verifyPasskeyAssertion, writeAssertion } from "./assertion.ts";
import { type AuditFacts, auditPasskeys, auditRejection, type Caller } from "./audit.ts";
import { type ConsumedChallenge, consumeTransactionChallenge, type TransactionRow } from "./challenges.ts";
import { readAuthenticationResponse } from "./credential-responses.ts";
import type { Process } from "./process.ts";
import { signReceipt } from "./receipt-signing.ts";
import { verifyReceipt } from "./receipt-verification.ts";
import { signToken } from "./tokens.ts";

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
  context: RequestContext<Process>,
  body: unknown,
): Promise<({ ok: true } & TransactionProof) | PasskeyRejection> {
  const read = readAuthenticationResponse(body);
  if (!read.ok) return rejectPasskeyRequest("malformed_transaction_assertion", { details: read.details });
  const consumed = await consumeTransactionChallenge(context, read.clientData.challenge);
  if (!consumed) {
    const rejection = rejectPasskeyRequest("unknown_login_challenge");
    const facts = { credentialId: read.answer.id };
    return auditRejection(context, "webauthn_transaction_final", rejection, facts, "public");
  }
  const verdict = await verifyTransactionAssertion(context, { ...read, ...consumed }, "application");
  if (!verdict.ok) return verdict;
  const rejection = await verdict.write();
  return rejection ?? { ok: true, ...verdict.proof };
}

/** The result of a confirmation page, redeemable by a one-time code. */
export interface RedeemableResult {
  codeHash: Buffer;
  sealedResult: Buffer;
  /** Lifetime of code and result. */
  seconds: number;
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
  context: RequestContext<Process>,
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

  const { credential } = verdict;
  const receipt = await signReceipt(context, { credential, transaction, answer });
  // Issue no token without a valid receipt: the verification of receipts is stricter in places.
  const receiptVerdict = verifyReceipt(receipt, { jwks: null });
  if (!receiptVerdict.ok) {
    const details = `the receipt would be invalid: ${receiptVerdict.code}`;
    return fail(rejectPasskeyRequest("assertion_rejected", { details }));
  }
  const token = await signToken(context, {
    userId: credential.owner.userId,
    credentialId: credential.id,
    mfaOnly: credential.mfaOnly,
    userVerified: verdict.userVerified,
    transactionId: transaction.identifier,
  });
  return {
    ok: true,
    proof: { token, receipt },
    async write(result) {
      const rejection = await writeAssertion(
        context,
        ...verdict.writes,
        writeOf(confirmed(context, transaction, result)),
        auditPasskeys(context, "webauthn_transaction_final_succeeded", facts),
      );
      return rejection && fail(rejection);
    },
  };
}

// The page is locked before it is judged: an answer that is being committed is waited for.
const confirmText = `page as materialized (
    select answered_at from transaction_confirmations
    where tenant_id = $1 and transaction_id = $2 for update),
  page_answered as (
    update transaction_confirmations set answered_at = $3,
      code_hash = coalesce($4::bytea, code_hash), sealed_result = coalesce($5::bytea, sealed_result),
      expires_at = case when $4::bytea is null then expires_at
        else ${clockText("$6")} + $7::int * interval '1 second' end
    where tenant_id = $1 and transaction_id = $2 and exists (select 1 from page where answered_at is null)),
  confirmed as (
    update passkey_transactions set confirmed_at = $3, updated_at = $3
    where tenant_id = $1 and id = $2 and confirmed_at is null
      and not exists (select 1 from page where answered_at is not null)
    returning 1)`;

/**
 * Marks a transaction as confirmed, and its confirmation page as answered. Each happens once: it refuses with
 * `transaction` if it was confirmed or declined concurrently.
 */
function confirmed(
  { runtime, now }: Pick<RequestContext<Process>, "runtime" | "now">,
  { tenantId, id }: TransactionRow,
  { codeHash, sealedResult, seconds }: Partial<RedeemableResult> = {},
): Part {
  return {
    name: "confirmed",
    text: confirmText,
    values: [
      tenantId,
      id,
      now,
      codeHash ?? null,
      sealedResult ?? null,
      runtime.platform.clockShift(),
      seconds ?? 0,
    ],
    refuses: "case when not exists (select 1 from confirmed) then 'transaction' end",
  };
}

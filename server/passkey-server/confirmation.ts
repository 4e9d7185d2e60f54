import { and, eq, isNull } from "drizzle-orm";
import { schema } from "#db/client";
import { audit } from "../audit/audit.ts";
import type { RequestContext, TenantContext } from "../runtime.ts";
import { openChallenge, takeChallenge } from "./challenges.ts";
import { issueCode } from "./confirmation-code.ts";
import {
  type ConfirmationRecord,
  closeChallenges,
  findConfirmation,
  ofTransaction,
} from "./confirmation-records.ts";
import { allowedReturnUrl } from "./confirmation-request.ts";
import {
  canReturn,
  type ReturnToApplication,
  repeatReturn,
  returnToApplication,
} from "./confirmation-return.ts";
import { findDescriptors } from "./credential-records.ts";
import { readAuthenticationResponse } from "./credential-responses.ts";
import { type PasskeyRejection, rejectPasskeyRequest } from "./errors.ts";
import type { requestOptions } from "./options.ts";
import { transactionChallenge } from "./transaction-challenge.ts";
import { verifyTransactionAssertion } from "./transaction-finalization.ts";
import { transactionOptions } from "./transaction-initialization.ts";

/** Our own page that shows a user what they are asked to agree to, and takes their answer. */

const { passkeyTransactions: transactions, transactionConfirmations: table } = schema;

type Options = ReturnType<typeof requestOptions>;

/** What the page draws. */
export type ConfirmationPage =
  | { state: "unknown" | "expired" }
  /** `returnsTo`: host that the user can still be sent to, where that was lost on the way. */
  | { state: "confirmed" | "declined"; returnsTo: string | null }
  | {
      state: "open";
      /** What the application calls the transaction, and itself; and how the user is called there. */
      transactionId: string;
      application: string;
      user: { name: string; displayName: string };
      /** What is signed: an object in the canonical form of RFC 8785. */
      data: string;
      /** Host that the user goes to afterwards. */
      returnsTo: string;
      publicKey: Options;
    };

/**
 * What the page of a token draws. Reads only: whoever looks, be it a mail scanner, spends nothing.
 *
 * @param token of the page's address, from anybody
 */
export async function confirmationPage(place: TenantContext, token: string): Promise<ConfirmationPage> {
  const { runtime, tenant } = place;
  const found = await findConfirmation(place, token);
  if (!found) return { state: "unknown" };
  const { transaction, user, page, seconds } = found;
  if (transaction.confirmedAt || page.answeredAt) {
    const address = canReturn(found) ? allowedReturnUrl(tenant.config, page.redirectTo) : null;
    return { state: transaction.confirmedAt ? "confirmed" : "declined", returnsTo: address?.host ?? null };
  }
  if (seconds < 1) return { state: "expired" };
  const allowed = await findDescriptors(runtime.database.read, tenant.id, user.id, "passkey");
  return {
    state: "open",
    transactionId: transaction.identifier,
    application: tenant.config.passkey_server.relying_party.display_name,
    user: { name: user.name, displayName: user.displayName },
    data: transaction.data,
    returnsTo: new URL(page.redirectTo).host,
    publicKey: transactionOptions(place, { challenge: transaction.challenge, seconds, allowed }),
  };
}

export type ConfirmationAnswer =
  | ReturnToApplication
  /** `publicKey`: the page can ask once more, with these. */
  | (PasskeyRejection & { publicKey?: Options });

/**
 * Takes the user's passkey for an answer. It ends the page; a refused one does not, since the page is handed another
 * challenge. Of several answers the first one counts, and whoever comes later hears which it was (`sendBackAgain`).
 *
 * @param credential AuthenticationResponseJSON, as the browser sent it; nothing in it makes this throw
 */
export async function confirm(
  context: RequestContext,
  token: string,
  credential: unknown,
): Promise<ConfirmationAnswer> {
  const { runtime, tenant, client } = context;
  const found = await openPage(context, token);
  if ("ok" in found) return found;
  // Each refused answer opens a challenge, and nobody shows a key here.
  const rate = await runtime.rates.consume("passkey_challenge", `${tenant.id}/${client.source}`);
  if (!rate.ok)
    return rejectPasskeyRequest("too_many_challenges", { retryAfterSeconds: rate.retryAfterSeconds });
  const read = readAuthenticationResponse(credential);
  if (!read) return rejectPasskeyRequest("malformed_transaction_assertion");
  const { transaction } = found;

  // The challenge of another transaction is left where it is.
  const own = read.clientData.challenge === transaction.challenge;
  const taken = own ? await takeChallenge(context, ["transaction"], transaction.challenge) : null;
  if (!taken) return rejectAndReopen(context, token, found, rejectPasskeyRequest("unknown_login_challenge"));
  const judged = await verifyTransactionAssertion(context, { ...read, taken, transaction });
  if (!judged.ok) return rejectAndReopen(context, token, found, judged);

  const { code, result } = issueCode(context, transaction.id, judged.proof);
  const rejection = await judged.write(result);
  if (rejection) return rejectAndReopen(context, token, found, rejection);
  return returnToApplication(context, found, code);
}

/** Takes a no for an answer, which ends the page and the transaction. */
export async function decline(context: RequestContext, token: string): Promise<ConfirmationAnswer> {
  const { runtime, tenant, now } = context;
  const found = await openPage(context, token);
  if ("ok" in found) return found;
  const { transaction, user } = found;
  const facts = { actor_user_id: user.userId, transaction_id: transaction.identifier };
  const declined = await runtime.database.write.transaction(async (tx) => {
    const answered = await tx
      .update(table)
      .set({ answeredAt: now })
      .where(and(ofTransaction(tenant.id, transaction.id), isNull(table.answeredAt)))
      .returning({ id: table.transactionId });
    if (answered.length === 0) return false;
    await closeChallenges(tx, tenant.id, transaction.id);
    const error = rejectPasskeyRequest("transaction_declined").error.title;
    await audit(context, "webauthn_transaction_final_failed", { ...facts, error })(tx);
    return true;
  });
  return declined ? returnToApplication(context, found, null) : resume(context, token);
}

/** Takes no answer: the page was answered, and the way back was lost. */
export async function resume(
  context: RequestContext,
  token: string,
): Promise<ReturnToApplication | PasskeyRejection> {
  const found = await findConfirmation(context, token);
  if (!found) return rejectPasskeyRequest("confirmation_not_found");
  return found.page.answeredAt
    ? repeatReturn(context, found)
    : rejectPasskeyRequest("confirmation_unanswered");
}

/** A page that can still be answered; else what there is to say instead. */
async function openPage(
  context: RequestContext,
  token: string,
): Promise<ConfirmationRecord | ReturnToApplication | PasskeyRejection> {
  const found = await findConfirmation(context, token);
  if (!found) return rejectPasskeyRequest("confirmation_not_found");
  if (found.page.answeredAt) return repeatReturn(context, found);
  return found.seconds < 1 ? rejectPasskeyRequest("confirmation_expired") : found;
}

/** Opens another challenge in place of the one that is used up, for as long as the page may still be answered. */
async function rejectAndReopen(
  context: RequestContext,
  token: string,
  found: ConfirmationRecord,
  rejection: PasskeyRejection,
): Promise<ConfirmationAnswer> {
  const { runtime, tenant, now } = context;
  const { transaction, user, seconds } = found;
  const { identifier, data, id } = transaction;
  const allowed = await findDescriptors(runtime.database.read, tenant.id, user.id, "passkey");
  if (allowed.length === 0) return rejection;
  const challenge = transactionChallenge(runtime.platform.randomBytes(32), identifier, data);
  const reopened = await runtime.database.write.transaction(async (tx) => {
    const [page] = await tx.select().from(table).where(ofTransaction(tenant.id, id)).for("update");
    if (!page || page.answeredAt) return false;
    await closeChallenges(tx, tenant.id, id);
    await tx
      .update(transactions)
      .set({ challenge, updatedAt: now })
      .where(and(eq(transactions.tenantId, tenant.id), eq(transactions.id, id)));
    await openChallenge(tx, context, {
      operation: "transaction",
      challenge,
      userId: user.id,
      allowed: allowed.map((credential) => credential.id),
      userVerification: tenant.config.passkey_server.user_verification,
      transactionId: id,
      seconds,
    });
    return true;
  });
  if (!reopened) return resume(context, token);
  return { ...rejection, publicKey: transactionOptions(context, { challenge, seconds, allowed }) };
}

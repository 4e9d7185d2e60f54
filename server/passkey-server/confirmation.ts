import { and, eq, isNull } from "drizzle-orm";
import { schema } from "#db/client";
import type { Config } from "../config/schema.ts";
import type { RequestContext, TenantContext } from "../context/context.ts";
import { type PasskeyRejection, rejectPasskeyRequest } from "../failures/passkey-server.ts";
import { rejectionEntry } from "./audit.ts";
import { consumeChallenge, openChallenge, rejectTooManyChallenges } from "./challenges.ts";
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
import { requestOptions, transactionVerification } from "./options.ts";
import type { Process } from "./process.ts";
import { transactionChallenge } from "./transaction-challenge.ts";
import { verifyTransactionAssertion } from "./transaction-finalization.ts";

/** The confirmation page: shows a transaction to the user, and takes the user's answer. */

const { passkeyTransactions: transactions, transactionConfirmations: table } = schema;

type Options = ReturnType<typeof requestOptions>;

/** Data of the page. */
export type ConfirmationPage =
  | { state: "unknown" | "expired" }
  /** `returnsTo`: host that the user can still be redirected to, if the first redirect was lost. */
  | { state: "confirmed" | "declined"; returnsTo: string | null }
  | {
      state: "open";
      /** The application's id of the transaction. */
      transactionId: string;
      application: string;
      user: { name: string; displayName: string };
      /** The signed data: an object in the canonical form of RFC 8785. */
      data: string;
      /** Host that the user is redirected to afterwards. */
      returnsTo: string;
      publicKey: Options;
    };

/**
 * Returns the data of the page for a token. Reads only, so that opening the page, even by a mail scanner, changes nothing.
 *
 * @param token from the page's URL, unvalidated
 */
export async function confirmationPage(
  context: TenantContext<Process>,
  token: string,
): Promise<ConfirmationPage> {
  const { runtime, tenant } = context;
  const record = await findConfirmation(context, token);
  if (!record) return { state: "unknown" };
  const { transaction, user, page, seconds } = record;
  if (transaction.confirmedAt || page.answeredAt) {
    const address = canReturn(record) ? allowedReturnUrl(tenant.config, page.redirectTo) : null;
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
    publicKey: pageOptions(tenant.config, { challenge: transaction.challenge, seconds, allowed }),
  };
}

export type ConfirmationAnswer =
  | ReturnToApplication
  /** `publicKey`: options for another attempt on the same page. */
  | (PasskeyRejection & { publicKey?: Options });

/**
 * Confirms the transaction with the user's passkey, which closes the page. A rejected response gets a new challenge, so
 * the page stays open. The first of several answers counts; later ones receive the recorded answer (`repeatReturn`).
 *
 * @param credential AuthenticationResponseJSON, unvalidated; no content makes this throw
 */
export async function confirm(
  context: RequestContext<Process>,
  token: string,
  credential: unknown,
): Promise<ConfirmationAnswer> {
  const record = await openPage(context, token);
  if ("ok" in record) return record;
  // Each rejected response opens a challenge, and this endpoint needs no API key.
  const tooMany = await rejectTooManyChallenges(context);
  if (tooMany) return tooMany;
  const read = readAuthenticationResponse(credential);
  if (!read.ok) return rejectPasskeyRequest("malformed_transaction_assertion", { details: read.details });
  const { transaction } = record;

  // A challenge of another transaction stays open.
  const matches = read.clientData.challenge === transaction.challenge;
  const consumed = matches ? await consumeChallenge(context, ["transaction"], transaction.challenge) : null;
  if (!consumed)
    return rejectAndReopen(context, token, record, rejectPasskeyRequest("unknown_login_challenge"));
  const verdict = await verifyTransactionAssertion(context, { ...read, consumed, transaction }, "public");
  if (!verdict.ok) return rejectAndReopen(context, token, record, verdict);

  const { code, result } = issueCode(context, transaction.id, verdict.proof);
  const rejection = await verdict.write(result);
  if (rejection) return rejectAndReopen(context, token, record, rejection);
  return returnToApplication(context, record, code);
}

/** Declines the transaction, which closes the page. */
export async function decline(context: RequestContext<Process>, token: string): Promise<ConfirmationAnswer> {
  const { runtime, tenant, now } = context;
  const record = await openPage(context, token);
  if ("ok" in record) return record;
  const { transaction, user } = record;
  const facts = { actorUserId: user.userId, transactionId: transaction.identifier };
  const declined = await runtime.database.write.transaction(async (tx) => {
    const answered = await tx
      .update(table)
      .set({ answeredAt: now })
      .where(and(ofTransaction(tenant.id, transaction.id), isNull(table.answeredAt)))
      .returning({ id: table.transactionId });
    if (answered.length === 0) return false;
    await closeChallenges(tx, tenant.id, transaction.id);
    const rejection = rejectPasskeyRequest("transaction_declined");
    await rejectionEntry(context, "webauthn_transaction_final", rejection, facts)(tx);
    return true;
  });
  return declined ? returnToApplication(context, record, null) : resume(context, token);
}

/** Repeats the redirect of a page that was already answered. */
export async function resume(
  context: RequestContext<Process>,
  token: string,
): Promise<ReturnToApplication | PasskeyRejection> {
  const record = await findConfirmation(context, token);
  if (!record) return rejectPasskeyRequest("confirmation_not_found");
  return record.page.answeredAt
    ? repeatReturn(context, record)
    : rejectPasskeyRequest("confirmation_unanswered");
}

/** Returns a page that can still be answered; else the recorded answer or a rejection. */
async function openPage(
  context: RequestContext<Process>,
  token: string,
): Promise<ConfirmationRecord | ReturnToApplication | PasskeyRejection> {
  const record = await findConfirmation(context, token);
  if (!record) return rejectPasskeyRequest("confirmation_not_found");
  if (record.page.answeredAt) return repeatReturn(context, record);
  return record.seconds < 1 ? rejectPasskeyRequest("confirmation_expired") : record;
}

/** Replaces the used challenge by a new one for the rest of the page's lifetime, and adds its options to the rejection. */
async function rejectAndReopen(
  context: RequestContext<Process>,
  token: string,
  record: ConfirmationRecord,
  rejection: PasskeyRejection,
): Promise<ConfirmationAnswer> {
  const { runtime, tenant, now } = context;
  const { transaction, user, seconds } = record;
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
    await openChallenge(context, {
      operation: "transaction",
      challenge,
      userId: user.id,
      allowed: allowed.map((credential) => credential.id),
      userVerification: transactionVerification(tenant.config),
      transactionId: id,
      seconds,
    })(tx);
    return true;
  });
  if (!reopened) return resume(context, token);
  return { ...rejection, publicKey: pageOptions(tenant.config, { challenge, seconds, allowed }) };
}

/** The options of our own page, which always names the user verification that the response must meet. */
function pageOptions(
  config: Config,
  about: Omit<Parameters<typeof requestOptions>[1], "userVerification">,
): Options {
  return requestOptions(config, { ...about, userVerification: transactionVerification(config) });
}

import { and, eq } from "drizzle-orm";
import { type ReadOnly, schema } from "#db/client";
import type { RequestContext } from "../runtime.ts";
import { auditPasskeys, auditRejection } from "./audit.ts";
import { canonicalJson, canonicalJsonRejections } from "./canonical-json.ts";
import { openChallenge } from "./challenges.ts";
import { type ConfirmationOptions, prepareConfirmation } from "./confirmation-request.ts";
import { findDescriptors } from "./credential-records.ts";
import { type PasskeyRejection, rejectPasskeyRequest } from "./errors.ts";
import { requestOptions, transactionVerification } from "./options.ts";
import { preloadSigningKey } from "./tokens.ts";
import { transactionChallenge } from "./transaction-challenge.ts";
import { findUser } from "./users.ts";

const { passkeyTransactions: table } = schema;

export type OpenedTransaction =
  | { ok: true; publicKey: ReturnType<typeof requestOptions>; confirmation_url?: string }
  | PasskeyRejection;

/**
 * Opens a challenge that commits to a transaction. The application's id of the transaction can be used once in a tenant,
 * even if the transaction is never confirmed.
 *
 * @param input `transactionId`: the application's id; `data`: any JSON value; `confirmation`: to have the user confirm on
 *   the confirmation page
 */
export async function initializeTransaction(
  context: RequestContext,
  input: { userId: string; transactionId: string; data: unknown; confirmation: ConfirmationOptions | null },
): Promise<OpenedTransaction> {
  const { runtime, tenant, now } = context;
  const { config } = tenant;
  const { userId, transactionId: identifier } = input;
  const invalid = (details: string) => rejectPasskeyRequest("invalid_request", { details });
  const canonical = canonicalJson(input.data);
  if (!canonical.ok)
    return invalid(`transaction_data is not acceptable: ${canonicalJsonRejections[canonical.reason]}`);
  const confirmation = input.confirmation && prepareConfirmation(context, input.confirmation);
  if (confirmation && !confirmation.ok) return invalid(confirmation.details);

  const facts = { actorUserId: userId, transactionId: identifier };
  const fail = async (rejection: PasskeyRejection) => {
    await auditRejection(context, "webauthn_transaction_init", rejection, facts);
    return rejection;
  };
  const db = runtime.database.read;
  const user = await findUser(db, tenant.id, userId);
  if (!user) return fail(rejectPasskeyRequest("transaction_user_not_found"));
  if (await isTransactionIdTaken(db, tenant.id, identifier))
    return fail(rejectPasskeyRequest("transaction_exists"));
  const allowed = await findDescriptors(db, tenant.id, user.id, "passkey");
  if (allowed.length === 0) return fail(rejectPasskeyRequest("no_suitable_credentials"));

  preloadSigningKey(context);
  const { timeout, confirmation_ttl, transaction } = config.passkey_server;
  const seconds = confirmation ? confirmation_ttl : timeout;
  const { text: data } = canonical;
  const challenge = transactionChallenge(runtime.platform.randomBytes(32), identifier, data);
  const id = runtime.platform.uuid();
  const opened = await runtime.database.write.transaction(async (tx) => {
    const moments = { createdAt: now, updatedAt: now };
    const written = await tx
      .insert(table)
      .values({ tenantId: tenant.id, id, userId: user.id, identifier, data, challenge, ...moments })
      .onConflictDoNothing({ target: [table.tenantId, table.identifier] })
      .returning({ id: table.id });
    if (written.length === 0) return false;
    await openChallenge(tx, context, {
      operation: "transaction",
      challenge,
      userId: user.id,
      allowed: allowed.map((credential) => credential.id),
      userVerification: transactionVerification(config),
      transactionId: id,
      seconds,
    });
    if (confirmation) await confirmation.write(tx, id, seconds);
    await auditPasskeys(context, "webauthn_transaction_init_succeeded", facts)(tx);
    return true;
  });
  if (!opened) return fail(rejectPasskeyRequest("transaction_exists"));
  return {
    ok: true,
    publicKey: requestOptions(config, {
      challenge,
      seconds,
      allowed,
      userVerification: transaction.user_verification ?? null,
    }),
    ...(confirmation ? { confirmation_url: confirmation.url } : {}),
  };
}

async function isTransactionIdTaken(db: ReadOnly, tenantId: string, identifier: string): Promise<boolean> {
  const found = await db
    .select({ id: table.id })
    .from(table)
    .where(and(eq(table.tenantId, tenantId), eq(table.identifier, identifier)));
  return found.length > 0;
}

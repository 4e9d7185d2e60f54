import { and, asc, eq, sql } from "drizzle-orm";
import { type ReadOnly, schema } from "#db/client";
import { commit } from "#db/commit";
import { ConflictError } from "#db/errors";
import { prepared } from "#db/prepared";
import { type WriteOfParts, writeOf } from "#db/write";
import type { RequestContext } from "../context/context.ts";
import {
  type PasskeyErrorCode,
  type PasskeyRejection,
  rejectPasskeyRequest,
} from "../failures/passkey-server.ts";
import { auditPasskeys, auditRejection } from "./audit.ts";
import { canonicalJson, canonicalJsonRejections } from "./canonical-json.ts";
import { openChallenge } from "./challenges.ts";
import { type ConfirmationOptions, prepareConfirmation } from "./confirmation-request.ts";
import { type CredentialDescriptor, requestOptions, transactionVerification } from "./options.ts";
import type { Process } from "./process.ts";
import { preloadSigningKey } from "./tokens.ts";
import { transactionChallenge } from "./transaction-challenge.ts";

const { passkeyTransactions: table, passkeyUsers: users, passkeyCredentials: credentials } = schema;

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
  context: RequestContext<Process>,
  input: { userId: string; transactionId: string; data: unknown; confirmation: ConfirmationOptions | null },
): Promise<OpenedTransaction> {
  const { runtime, tenant } = context;
  const { config } = tenant;
  const { userId, transactionId: identifier } = input;
  const invalid = (details: string) => rejectPasskeyRequest("invalid_request", { details });
  const canonical = canonicalJson(input.data);
  if (!canonical.ok)
    return invalid(`transaction_data is not acceptable: ${canonicalJsonRejections[canonical.reason]}`);
  const confirmation = input.confirmation && prepareConfirmation(context, input.confirmation);
  if (confirmation && !confirmation.ok) return invalid(confirmation.details);

  const facts = { actorUserId: userId, transactionId: identifier };
  const fail = (code: PasskeyErrorCode) =>
    auditRejection(context, "webauthn_transaction_init", rejectPasskeyRequest(code), facts);
  const user = await findRequested(runtime.database.read, tenant.id, { userId, identifier });
  if (!user) return fail("transaction_user_not_found");
  if (user.isTaken) return fail("transaction_exists");
  const { allowed } = user;
  if (allowed.length === 0) return fail("no_suitable_credentials");

  preloadSigningKey(context);
  const { timeout, confirmation_ttl, transaction } = config.passkey_server;
  const seconds = confirmation ? confirmation_ttl : timeout;
  const { text: data } = canonical;
  const challenge = transactionChallenge(runtime.platform.randomBytes(32), identifier, data);
  const id = runtime.platform.uuid();
  const opened = await commit(runtime.database, [
    insertTransaction(context, { id, userId: user.id, identifier, data, challenge }),
    openChallenge(context, {
      operation: "transaction",
      challenge,
      userId: user.id,
      allowed: allowed.map((credential) => credential.id),
      userVerification: transactionVerification(config),
      transactionId: id,
      seconds,
    }),
    ...(confirmation ? [confirmation.write(id, seconds)] : []),
    auditPasskeys(context, "webauthn_transaction_init_succeeded", facts),
  ]).then(
    () => true,
    (error: unknown) => {
      if (error instanceof ConflictError) return false;
      throw error;
    },
  );
  if (!opened) return fail("transaction_exists");
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

const insertText = `opened as (
  insert into passkey_transactions
    (tenant_id, id, user_id, identifier, data, challenge, created_at, updated_at)
  values ($1, $2, $3, $4, $5, $6, $7, $7)
  on conflict (tenant_id, identifier) do nothing
  returning 1)`;

/** Inserts a transaction; refuses with `transaction` if its identifier is taken. */
function insertTransaction(
  { tenant, now }: Pick<RequestContext<unknown>, "tenant" | "now">,
  row: { id: string; userId: string; identifier: string; data: string; challenge: string },
): WriteOfParts {
  const { id, userId, identifier, data, challenge } = row;
  return writeOf({
    name: "transaction",
    text: insertText,
    values: [tenant.id, id, userId, identifier, data, challenge, now],
    refuses: "case when not exists (select 1 from opened) then 'transaction' end",
  });
}

const selectRequested = prepared("passkey_transaction_requested", (db) =>
  db
    .select({
      userId: users.id,
      isTaken: sql<boolean>`exists (select 1 from ${table} where ${table.tenantId} = ${users.tenantId}
        and ${table.identifier} = ${sql.placeholder("identifier")})`,
      credentialId: credentials.id,
      transports: credentials.transports,
    })
    .from(users)
    .leftJoin(
      credentials,
      and(
        eq(credentials.tenantId, users.tenantId),
        eq(credentials.userId, users.id),
        eq(credentials.isMfa, false),
      ),
    )
    .where(and(eq(users.tenantId, sql.placeholder("tenantId")), eq(users.userId, sql.placeholder("userId"))))
    .orderBy(asc(credentials.createdAt), asc(credentials.id)),
);

/**
 * Reads what a new transaction depends on.
 *
 * @param asked `userId`, `identifier`: the application's own ids
 * @returns null if there is no such user; `isTaken`: whether the id of the transaction was used; `allowed`: the user's
 *   passkeys, the oldest first
 */
async function findRequested(
  db: ReadOnly,
  tenantId: string,
  { userId, identifier }: { userId: string; identifier: string },
): Promise<{ id: string; isTaken: boolean; allowed: CredentialDescriptor[] } | null> {
  // PostgreSQL text cannot hold NUL, so no user has such an id.
  if (userId.includes("\0")) return null;
  const rows = await selectRequested(db).execute({ tenantId, userId, identifier });
  const [first] = rows;
  const allowed = rows.flatMap(({ credentialId: id, transports }) =>
    id && transports ? [{ id, transports }] : [],
  );
  return first ? { id: first.userId, isTaken: first.isTaken, allowed } : null;
}

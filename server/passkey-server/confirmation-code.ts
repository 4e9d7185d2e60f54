import { and, eq, gt, isNotNull, type SQL, sql } from "drizzle-orm";
import { schema } from "#db/client";
import { databaseNow } from "#db/clock";
import { sealContext } from "#db/schema/table";
import type { TenantContext } from "../context/context.ts";
import { type PasskeyRejection, rejectPasskeyRequest } from "../failures/passkey-server.ts";
import { randomToken } from "../lib/random-token.ts";
import { sha256 } from "../lib/sha256.ts";
import { ofTransaction, RETURN_SECONDS } from "./confirmation-records.ts";
import type { Process } from "./process.ts";
import type { RedeemableResult, TransactionProof } from "./transaction-finalization.ts";

/**
 * The one-time code that the application receives through the user's browser. Its result is sealed in the same row and
 * lives for a minute, so it is not among the columns that are resealed when a key is rotated.
 */

const { passkeyTransactions: transactions, transactionConfirmations: table } = schema;

const contextOf = (tenantId: string, transactionId: string) =>
  sealContext(table, "sealedResult", { tenantId, transactionId });

/**
 * Issues a code for a confirmed transaction.
 *
 * @param transactionId internal
 * @returns `code`: 43 characters of base64url; `result`: the columns to write
 */
export function issueCode(
  { runtime, tenant }: TenantContext<Process>,
  transactionId: string,
  proof: TransactionProof,
): { code: string; result: RedeemableResult } {
  const code = randomToken(runtime.platform);
  const sealedResult = runtime.vault.seal(
    Buffer.from(JSON.stringify(proof)),
    contextOf(tenant.id, transactionId),
  );
  return { code, result: { codeHash: sha256(code), sealedResult, seconds: RETURN_SECONDS } };
}

/**
 * Issues another code for the same result, which replaces the earlier one.
 *
 * @param transactionId internal
 * @returns null if there is no result left to redeem
 */
export async function replaceCode(
  { runtime, tenant }: TenantContext<Process>,
  transactionId: string,
): Promise<string | null> {
  const code = randomToken(runtime.platform);
  const replaced = await runtime.database.write
    .update(table)
    .set({ codeHash: sha256(code), expiresAt: codeExpiry(runtime) })
    .where(and(ofTransaction(tenant.id, transactionId), isNotNull(table.sealedResult)))
    .returning({ id: table.transactionId });
  return replaced.length > 0 ? code : null;
}

/** Returns the expiry of a code issued now. */
function codeExpiry({ platform }: Process): SQL {
  return sql`${databaseNow(platform.clockShift())} + ${RETURN_SECONDS}::int * interval '1 second'`;
}

/**
 * Redeems a code, which is valid once and for a minute.
 *
 * @param code unvalidated
 */
export async function redeemCode(
  { runtime, tenant }: TenantContext<Process>,
  code: string,
): Promise<({ ok: true; transaction_id: string } & TransactionProof) | PasskeyRejection> {
  const now = databaseNow(runtime.platform.clockShift());
  const codeHash = sha256(code);
  const redeemed = await runtime.database.write.transaction(async (tx) => {
    const [found] = await tx
      .select({ id: table.transactionId, sealed: table.sealedResult, identifier: transactions.identifier })
      .from(table)
      .innerJoin(
        transactions,
        and(eq(transactions.tenantId, table.tenantId), eq(transactions.id, table.transactionId)),
      )
      .where(and(eq(table.tenantId, tenant.id), eq(table.codeHash, codeHash), gt(table.expiresAt, now)))
      .for("update", { of: table });
    if (!found) return null;
    // Inside the transaction: a code whose result cannot be opened here stays redeemable.
    const opened = found.sealed && runtime.vault.unseal(found.sealed, contextOf(tenant.id, found.id));
    await tx
      .update(table)
      .set({ codeHash: null, sealedResult: null })
      .where(ofTransaction(tenant.id, found.id));
    return { ...found, opened };
  });
  if (!redeemed?.opened) return rejectPasskeyRequest("unknown_code");
  return {
    ok: true,
    ...(JSON.parse(redeemed.opened.toString()) as TransactionProof),
    transaction_id: redeemed.identifier,
  };
}

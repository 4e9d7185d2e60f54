import { and, eq, gt, isNotNull, type SQL, sql } from "drizzle-orm";
import { schema } from "#db/client";
import { databaseNow } from "#db/clock";
import type { RequestContext, TenantContext } from "../runtime.ts";
import { ofTransaction, RETURN_SECONDS } from "./confirmation-records.ts";
import { secretHash } from "./confirmation-request.ts";
import { type PasskeyRejection, rejectPasskeyRequest } from "./errors.ts";
import type { RedeemableResult, TransactionProof } from "./transaction-finalization.ts";

/**
 * The one-time code that our page hands to the application through the user's browser. What it is good for lies sealed
 * beside it and is read for a minute at most, so it needs no place among the columns that outlive a key.
 */

const { passkeyTransactions: transactions, transactionConfirmations: table } = schema;

const sealContext = (tenantId: string, transactionId: string) =>
  `transaction_confirmations/${tenantId}/${transactionId}`;

/**
 * Makes a code for an agreement.
 *
 * @param transactionId internal
 * @returns `code`: 43 characters of base64url; `result`: what is written of it
 */
export function issueCode(
  { runtime, tenant }: TenantContext,
  transactionId: string,
  agreement: TransactionProof,
): { code: string; result: RedeemableResult } {
  const code = newCode(runtime);
  const sealedResult = runtime.vault.seal(
    Buffer.from(JSON.stringify(agreement)),
    sealContext(tenant.id, transactionId),
  );
  return { code, result: { codeHash: secretHash(code), sealedResult, expiresAt: codeExpiry(runtime) } };
}

/**
 * Makes another code for the same agreement, which ends the earlier one.
 *
 * @param transactionId internal
 * @returns null where there is nothing to redeem any more
 */
export async function replaceCode(
  { runtime, tenant }: TenantContext,
  transactionId: string,
): Promise<string | null> {
  const code = newCode(runtime);
  const replaced = await runtime.database.write
    .update(table)
    .set({ codeHash: secretHash(code), expiresAt: codeExpiry(runtime) })
    .where(and(ofTransaction(tenant.id, transactionId), isNotNull(table.sealedResult)))
    .returning({ id: table.transactionId });
  return replaced.length > 0 ? code : null;
}

const newCode = ({ platform }: RequestContext["runtime"]) => platform.randomBytes(32).toString("base64url");

/** When a code that is made now is good for nothing any more. */
function codeExpiry({ platform }: RequestContext["runtime"]): SQL {
  return sql`${databaseNow(platform.clockShift())} + ${RETURN_SECONDS}::int * interval '1 second'`;
}

/**
 * Takes a code, which is good once and for a minute.
 *
 * @param code from anybody
 */
export async function redeemCode(
  { runtime, tenant }: TenantContext,
  code: string,
): Promise<({ ok: true; transaction_id: string } & TransactionProof) | PasskeyRejection> {
  const now = databaseNow(runtime.platform.clockShift());
  const codeHash = secretHash(code);
  const taken = await runtime.database.write.transaction(async (tx) => {
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
    await tx
      .update(table)
      .set({ codeHash: null, sealedResult: null })
      .where(ofTransaction(tenant.id, found.id));
    return found;
  });
  if (!taken?.sealed) return rejectPasskeyRequest("unknown_code");
  const opened = runtime.vault.unseal(taken.sealed, sealContext(tenant.id, taken.id));
  return {
    ok: true,
    ...(JSON.parse(opened.toString()) as TransactionProof),
    transaction_id: taken.identifier,
  };
}

import { z } from "zod";
import { rejectedNumber } from "../../passkey-server/canonical-json.ts";
import { finalizeTransaction } from "../../passkey-server/transaction-finalization.ts";
import { initializeTransaction } from "../../passkey-server/transaction-initialization.ts";
import { listTransactions } from "../../passkey-server/transaction-list.ts";
import { authenticationResponse } from "../../webauthn/responses.ts";
import { json } from "../answer/reply.ts";
import { isObject } from "../request/body.ts";
import { type Handler, requestContextOf } from "../table/handler-context.ts";
import { fieldsEndpoint, rejectionReply, requiredText, responseEndpoint } from "./request.ts";

const transactionFields = z.object({
  /** Needs no limit: a longer one than allowed matches no user. */
  user_id: requiredText(),
  transaction_id: requiredText(128),
  transaction_data: z
    .custom<Record<string, unknown>>(isObject, {
      error: ({ input }) => (input === undefined ? "is a required field" : "must be an object"),
    })
    .meta({ type: "object" }),
  confirmation: z.object({ redirect_to: requiredText(2048) }, { error: "must be an object" }).optional(),
});

/** `POST transaction/initialize`: options for a transaction, and on request the URL of its confirmation page. */
export const transactionInitialization = fieldsEndpoint(
  transactionFields,
  async (context, { user_id, transaction_id, transaction_data, confirmation }) =>
    initializeTransaction(await requestContextOf(context), {
      userId: user_id,
      transactionId: transaction_id,
      data: transaction_data,
      confirmation: confirmation ? { redirectTo: confirmation.redirect_to } : null,
    }),
  (text) => rejectedNumber(text, "transaction_data"),
);

/** `POST transaction/finalize`: exchanges the browser's response for a token and a receipt. */
export const transactionFinalization = responseEndpoint(
  authenticationResponse,
  "malformed_transaction_assertion",
  finalizeTransaction,
);

/** `GET transaction/{user_id}`: the transactions of a user, by internal id or the application's. */
export const listTransactionsHandler: Handler = async ({ runtime, tenant, params }) => {
  const listed = await listTransactions({ runtime, tenant }, params.user_id ?? "");
  return listed.ok ? json(200, listed.transactions) : rejectionReply(listed);
};

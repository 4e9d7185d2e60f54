import { z } from "zod";
import { keySet } from "../session/schemas.ts";
import { type Access, type Address, address, type Operation, type Security } from "../table/address.ts";
import { uuid } from "../table/fields.ts";
import { described } from "../table/operation.ts";
import { requireApiKey } from "./api-key.ts";
import { listAuditLogsHandler } from "./audit-logs.ts";
import { confirmation, redemption } from "./confirmation.ts";
import {
  credentialRenaming,
  listCredentialsHandler,
  removeCredentialHandler,
  showCredentialHandler,
} from "./credentials.ts";
import { passkeyJwksHandler, receiptKeysHandler } from "./jwks.ts";
import { loginFinalization, loginInitialization, mfaLoginInitialization } from "./login.ts";
import { registrationFinalization, registrationInitialization } from "./registration.ts";
import type { Endpoint } from "./request.ts";
import {
  auditLogsQuery,
  creationOptions,
  credentialsQuery,
  pagedHeaders,
  passkeyAuditEntry,
  passkeyCredential,
  passkeyToken,
  passkeyTransaction,
  requestOptions,
  transactionOptions,
  transactionToken,
} from "./schemas.ts";
import {
  listTransactionsHandler,
  transactionFinalization,
  transactionInitialization,
} from "./transactions.ts";
import { removeUserHandler } from "./users.ts";

const tenantParams = z.object({ tenant_id: uuid() });

/**
 * A row. By default it requires an API key.
 *
 * @param declared with the endpoint, which a body belongs to
 */
function row(
  method: Address["method"],
  path: string,
  {
    handler,
    access = "public",
    security = "passkeys",
    answers,
    ...declared
  }: Endpoint & Omit<Operation, "tag" | "security"> & { access?: Access; security?: Security },
): Address {
  const isKeyed = security === "passkeys";
  const guarded = isKeyed ? requireApiKey(handler) : handler;
  return described(address(method, `/passkeys/{tenant_id}${path}`, guarded, "passkeys", access), {
    ...declared,
    answers: {
      ...(declared.body ? { 400: "The body is rejected; `details` names the member." } : {}),
      ...(isKeyed ? { 401: "The API key is missing or wrong." } : {}),
      ...answers,
    },
    params: tenantParams,
    tag: "passkeys",
    security,
  });
}

const TOO_MANY = "Too many challenges were asked for.";
const NO_USER = "There is no such user.";

const registration = {
  409: "The credential is registered already.",
  422: "The user was not verified.",
};
const assertion = { 401: "The assertion is rejected." };

/** Endpoints of the passkey server (docs/passkey-server.md). The tenant id is the first segment after the prefix. */
export const passkeyAddresses: readonly Address[] = [
  row("GET", "/.well-known/jwks.json", {
    handler: passkeyJwksHandler,
    security: "none",
    id: "getPasskeyKeys",
    summary: "Get the keys that sign tokens and receipts",
    answers: { 200: { schema: keySet } },
  }),
  row("GET", "/.well-known/receipt-keys.json", {
    handler: receiptKeysHandler,
    security: "none",
    id: "getReceiptKeys",
    summary: "Get all keys that ever signed receipts",
    answers: { 200: { schema: keySet } },
  }),
  row("POST", "/registration/initialize", {
    ...registrationInitialization("passkey"),
    id: "initializePasskeyRegistration",
    summary: "Get the options for a new passkey",
    answers: { 200: { schema: creationOptions }, 429: TOO_MANY },
  }),
  row("POST", "/registration/finalize", {
    ...registrationFinalization("passkey"),
    security: "none",
    id: "finalizePasskeyRegistration",
    summary: "Register the browser's new passkey",
    answers: { 200: { schema: passkeyToken }, ...registration },
  }),
  row("POST", "/login/initialize", {
    ...loginInitialization,
    security: "optional-passkeys",
    id: "initializePasskeyLogin",
    summary: "Get the options for signing in",
    description: "With `user_id` an API key is required; without it any discoverable passkey is accepted.",
    bodyOptional: true,
    answers: {
      200: { schema: requestOptions },
      401: "The API key is missing or wrong.",
      404: NO_USER,
      429: TOO_MANY,
    },
  }),
  row("POST", "/login/finalize", {
    ...loginFinalization("passkey"),
    security: "none",
    id: "finalizePasskeyLogin",
    summary: "Exchange the browser's assertion for a token",
    answers: { 200: { schema: passkeyToken }, ...assertion },
  }),
  row("POST", "/mfa/registration/initialize", {
    ...registrationInitialization("mfa"),
    id: "initializeSecurityKeyRegistration",
    summary: "Get the options for a new second factor",
    answers: { 200: { schema: creationOptions }, 429: TOO_MANY },
  }),
  row("POST", "/mfa/registration/finalize", {
    ...registrationFinalization("mfa"),
    id: "finalizeSecurityKeyRegistration",
    summary: "Register the browser's new second factor",
    answers: { 200: { schema: passkeyToken }, ...registration },
  }),
  row("POST", "/mfa/login/initialize", {
    ...mfaLoginInitialization,
    id: "initializeSecondFactor",
    summary: "Get the options for a second factor",
    answers: { 200: { schema: requestOptions }, 404: NO_USER, 429: TOO_MANY },
  }),
  row("POST", "/mfa/login/finalize", {
    ...loginFinalization("mfa"),
    id: "finalizeSecondFactor",
    summary: "Exchange the assertion of a second factor for a token",
    answers: { 200: { schema: passkeyToken }, ...assertion },
  }),
  row("POST", "/transaction/initialize", {
    ...transactionInitialization,
    id: "initializeTransaction",
    summary: "Get the options for confirming a transaction",
    answers: {
      200: { schema: transactionOptions },
      404: NO_USER,
      409: "The id of the transaction is used up.",
      429: TOO_MANY,
    },
  }),
  row("POST", "/transaction/finalize", {
    ...transactionFinalization,
    id: "finalizeTransaction",
    summary: "Exchange the assertion of a transaction for a token and a receipt",
    answers: { 200: { schema: transactionToken }, ...assertion },
  }),
  row("POST", "/transaction/confirm", {
    ...confirmation,
    access: "same-origin",
    security: "none",
    id: "confirmTransaction",
    summary: "Record the user's answer on the confirmation page",
    description: "Our own page calls it; requests of other origins are rejected.",
    answers: {
      200: { schema: z.object({ answer: z.enum(["confirmed", "declined"]), redirect_to: z.string() }) },
      401: "The assertion is rejected.",
      403: "Only same-origin requests are allowed.",
      404: "There is no such confirmation.",
      409: "It was answered before.",
      410: "It has expired.",
    },
  }),
  row("POST", "/transaction/redeem", {
    ...redemption,
    id: "redeemTransactionCode",
    summary: "Exchange the code of the redirect for a token and a receipt",
    answers: { 200: { schema: transactionToken }, 400: "The code is not valid." },
  }),
  row("GET", "/transaction/{user_id}", {
    handler: listTransactionsHandler,
    id: "listTransactions",
    summary: "List the transactions of a user, oldest first",
    answers: { 200: { schema: z.array(passkeyTransaction) }, 400: "The id is malformed.", 404: NO_USER },
  }),
  row("GET", "/audit_logs", {
    handler: listAuditLogsHandler,
    id: "listPasskeyAuditLogs",
    summary: "List the audit log of the passkey server, newest first",
    query: auditLogsQuery,
    answers: {
      200: { schema: z.array(passkeyAuditEntry), headers: pagedHeaders },
      400: "A parameter is rejected.",
    },
  }),
  row("GET", "/credentials", {
    handler: listCredentialsHandler,
    id: "listCredentials",
    summary: "List the credentials of a user, or of all users",
    query: credentialsQuery,
    answers: {
      200: { schema: z.array(passkeyCredential), headers: pagedHeaders },
      400: "A parameter is rejected.",
    },
  }),
  row("GET", "/credentials/{credential_id}", {
    handler: showCredentialHandler,
    id: "getCredential",
    summary: "Get a credential",
    answers: { 200: { schema: passkeyCredential }, 404: "There is no such credential." },
  }),
  row("PATCH", "/credentials/{credential_id}", {
    ...credentialRenaming,
    id: "renameCredential",
    summary: "Rename a credential",
    answers: { 204: "It has the name.", 404: "There is no such credential." },
  }),
  row("DELETE", "/credentials/{credential_id}", {
    handler: removeCredentialHandler,
    id: "removeCredential",
    summary: "Delete a credential",
    answers: { 204: "It is deleted.", 404: "There is no such credential." },
  }),
  row("DELETE", "/users/{user_id}", {
    handler: removeUserHandler,
    id: "removePasskeyUser",
    summary: "Delete a user with everything stored for it",
    answers: { 204: "It is deleted.", 404: NO_USER },
  }),
];

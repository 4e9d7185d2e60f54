import { z } from "zod";
import { authenticationResponse, registrationResponse } from "../../webauthn/responses.ts";
import { keySet } from "../session/schemas.ts";
import { type Access, type Address, address, type Operation, type Security } from "../table/address.ts";
import { acceptingNull, uuid } from "../table/fields.ts";
import type { Handler } from "../table/handler-context.ts";
import { described } from "../table/operation.ts";
import { requireApiKey } from "./api-key.ts";
import { listAuditLogsHandler } from "./audit-logs.ts";
import { confirmationFields, confirmHandler, redeemHandler, redemptionFields } from "./confirmation.ts";
import {
  listCredentialsHandler,
  nameFields,
  removeCredentialHandler,
  renameCredentialHandler,
  showCredentialHandler,
} from "./credentials.ts";
import { passkeyJwksHandler, receiptKeysHandler } from "./jwks.ts";
import {
  finalizeLoginHandler,
  initializeLoginHandler,
  initializeMfaLoginHandler,
  optionalUserFields,
  userFields,
} from "./login.ts";
import {
  finalizeRegistrationHandler,
  initializeRegistrationHandler,
  registrationFields,
} from "./registration.ts";
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
  finalizeTransactionHandler,
  initializeTransactionHandler,
  listTransactionsHandler,
  transactionFields,
} from "./transactions.ts";
import { removeUserHandler } from "./users.ts";

type Declared = Omit<Operation, "tag" | "security">;

const tenantParams = z.object({ tenant_id: uuid() });

/** A row that needs no credential. */
const row = (
  method: Address["method"],
  path: string,
  handler: Handler,
  declared: Declared,
  { access = "public", security = "none" }: { access?: Access; security?: Security } = {},
): Address =>
  described(address(method, `/passkeys/{tenant_id}${path}`, handler, "passkeys", access), {
    ...declared,
    params: tenantParams,
    tag: "passkeys",
    security,
  });

/** A row that requires an API key. */
const keyed = (method: Address["method"], path: string, handler: Handler, declared: Declared): Address =>
  row(
    method,
    path,
    requireApiKey(handler),
    { ...declared, answers: { 401: "The API key is missing or wrong.", ...declared.answers } },
    { security: "passkeys" },
  );

const REJECTED = "The body is rejected; `details` names the member.";
const TOO_MANY = "Too many challenges were asked for.";
const NO_USER = "There is no such user.";

const registration = {
  400: REJECTED,
  409: "The credential is registered already.",
  422: "The user was not verified.",
};
const assertion = { 400: REJECTED, 401: "The assertion is rejected." };

/** Endpoints of the passkey server (docs/passkey-server.md). The tenant id is the first segment after the prefix. */
export const passkeyAddresses: readonly Address[] = [
  row("GET", "/.well-known/jwks.json", passkeyJwksHandler, {
    id: "getPasskeyKeys",
    summary: "Get the keys that sign tokens and receipts",
    answers: { 200: { schema: keySet } },
  }),
  row("GET", "/.well-known/receipt-keys.json", receiptKeysHandler, {
    id: "getReceiptKeys",
    summary: "Get all keys that ever signed receipts",
    answers: { 200: { schema: keySet } },
  }),
  keyed("POST", "/registration/initialize", initializeRegistrationHandler("passkey"), {
    id: "initializePasskeyRegistration",
    summary: "Get the options for a new passkey",
    body: acceptingNull(registrationFields),
    answers: { 200: { schema: creationOptions }, 400: REJECTED, 429: TOO_MANY },
  }),
  row("POST", "/registration/finalize", finalizeRegistrationHandler("passkey"), {
    id: "finalizePasskeyRegistration",
    summary: "Register the browser's new passkey",
    body: registrationResponse,
    answers: { 200: { schema: passkeyToken }, ...registration },
  }),
  row(
    "POST",
    "/login/initialize",
    initializeLoginHandler,
    {
      id: "initializePasskeyLogin",
      summary: "Get the options for signing in",
      description: "With `user_id` an API key is required; without it any discoverable passkey is accepted.",
      body: acceptingNull(optionalUserFields),
      bodyOptional: true,
      answers: {
        200: { schema: requestOptions },
        400: REJECTED,
        401: "The API key is missing or wrong.",
        404: NO_USER,
        429: TOO_MANY,
      },
    },
    { security: "optional-passkeys" },
  ),
  row("POST", "/login/finalize", finalizeLoginHandler("passkey"), {
    id: "finalizePasskeyLogin",
    summary: "Exchange the browser's assertion for a token",
    body: authenticationResponse,
    answers: { 200: { schema: passkeyToken }, ...assertion },
  }),
  keyed("POST", "/mfa/registration/initialize", initializeRegistrationHandler("mfa"), {
    id: "initializeSecurityKeyRegistration",
    summary: "Get the options for a new second factor",
    body: acceptingNull(registrationFields),
    answers: { 200: { schema: creationOptions }, 400: REJECTED, 429: TOO_MANY },
  }),
  keyed("POST", "/mfa/registration/finalize", finalizeRegistrationHandler("mfa"), {
    id: "finalizeSecurityKeyRegistration",
    summary: "Register the browser's new second factor",
    body: registrationResponse,
    answers: { 200: { schema: passkeyToken }, ...registration },
  }),
  keyed("POST", "/mfa/login/initialize", initializeMfaLoginHandler, {
    id: "initializeSecondFactor",
    summary: "Get the options for a second factor",
    body: acceptingNull(userFields),
    answers: { 200: { schema: requestOptions }, 400: REJECTED, 404: NO_USER, 429: TOO_MANY },
  }),
  keyed("POST", "/mfa/login/finalize", finalizeLoginHandler("mfa"), {
    id: "finalizeSecondFactor",
    summary: "Exchange the assertion of a second factor for a token",
    body: authenticationResponse,
    answers: { 200: { schema: passkeyToken }, ...assertion },
  }),
  keyed("POST", "/transaction/initialize", initializeTransactionHandler, {
    id: "initializeTransaction",
    summary: "Get the options for confirming a transaction",
    body: acceptingNull(transactionFields),
    answers: {
      200: { schema: transactionOptions },
      400: REJECTED,
      404: NO_USER,
      409: "The id of the transaction is used up.",
      429: TOO_MANY,
    },
  }),
  keyed("POST", "/transaction/finalize", finalizeTransactionHandler, {
    id: "finalizeTransaction",
    summary: "Exchange the assertion of a transaction for a token and a receipt",
    body: authenticationResponse,
    answers: { 200: { schema: transactionToken }, ...assertion },
  }),
  row(
    "POST",
    "/transaction/confirm",
    confirmHandler,
    {
      id: "confirmTransaction",
      summary: "Record the user's answer on the confirmation page",
      description: "Our own page calls it; requests of other origins are rejected.",
      body: acceptingNull(confirmationFields),
      answers: {
        200: { schema: z.object({ answer: z.enum(["confirmed", "declined"]), redirect_to: z.string() }) },
        400: REJECTED,
        401: "The assertion is rejected.",
        403: "Only same-origin requests are allowed.",
        404: "There is no such confirmation.",
        409: "It was answered before.",
        410: "It has expired.",
      },
    },
    { access: "same-origin" },
  ),
  keyed("POST", "/transaction/redeem", redeemHandler, {
    id: "redeemTransactionCode",
    summary: "Exchange the code of the redirect for a token and a receipt",
    body: acceptingNull(redemptionFields),
    answers: { 200: { schema: transactionToken }, 400: "The code is not valid." },
  }),
  keyed("GET", "/transaction/{user_id}", listTransactionsHandler, {
    id: "listTransactions",
    summary: "List the transactions of a user, oldest first",
    answers: { 200: { schema: z.array(passkeyTransaction) }, 400: "The id is malformed.", 404: NO_USER },
  }),
  keyed("GET", "/audit_logs", listAuditLogsHandler, {
    id: "listPasskeyAuditLogs",
    summary: "List the audit log of the passkey server, newest first",
    query: auditLogsQuery,
    answers: {
      200: { schema: z.array(passkeyAuditEntry), headers: pagedHeaders },
      400: "A parameter is rejected.",
    },
  }),
  keyed("GET", "/credentials", listCredentialsHandler, {
    id: "listCredentials",
    summary: "List the credentials of a user, or of all users",
    query: credentialsQuery,
    answers: {
      200: { schema: z.array(passkeyCredential), headers: pagedHeaders },
      400: "A parameter is rejected.",
    },
  }),
  keyed("GET", "/credentials/{credential_id}", showCredentialHandler, {
    id: "getCredential",
    summary: "Get a credential",
    answers: { 200: { schema: passkeyCredential }, 404: "There is no such credential." },
  }),
  keyed("PATCH", "/credentials/{credential_id}", renameCredentialHandler, {
    id: "renameCredential",
    summary: "Rename a credential",
    body: acceptingNull(nameFields),
    answers: { 204: "It has the name.", 400: REJECTED, 404: "There is no such credential." },
  }),
  keyed("DELETE", "/credentials/{credential_id}", removeCredentialHandler, {
    id: "removeCredential",
    summary: "Delete a credential",
    answers: { 204: "It is deleted.", 404: "There is no such credential." },
  }),
  keyed("DELETE", "/users/{user_id}", removeUserHandler, {
    id: "removePasskeyUser",
    summary: "Delete a user with everything stored for it",
    answers: { 204: "It is deleted.", 404: NO_USER },
  }),
];

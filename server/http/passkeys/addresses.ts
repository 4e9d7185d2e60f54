import { type Access, type Address, address } from "../address.ts";
import type { Handler } from "../handler-context.ts";
import { requireApiKey } from "./api-key.ts";
import { listAuditLogsHandler } from "./audit-logs.ts";
import { confirmHandler, redeemHandler } from "./confirmation.ts";
import {
  listCredentialsHandler,
  removeCredentialHandler,
  renameCredentialHandler,
  showCredentialHandler,
} from "./credentials.ts";
import { passkeyJwksHandler, receiptKeysHandler } from "./jwks.ts";
import { finalizeLoginHandler, initializeLoginHandler, initializeMfaLoginHandler } from "./login.ts";
import { finalizeRegistrationHandler, initializeRegistrationHandler } from "./registration.ts";
import {
  finalizeTransactionHandler,
  initializeTransactionHandler,
  listTransactionsHandler,
} from "./transactions.ts";
import { removeUserHandler } from "./users.ts";

const row = (method: Address["method"], path: string, handler: Handler, access: Access = "public"): Address =>
  address(method, `/passkeys/{tenant_id}${path}`, handler, "passkeys", access);

/** Endpoints of the passkey server (docs/passkey-server.md). The tenant id is the first segment after the prefix. */
export const passkeyAddresses: readonly Address[] = [
  row("GET", "/.well-known/jwks.json", passkeyJwksHandler),
  row("GET", "/.well-known/receipt-keys.json", receiptKeysHandler),
  row("POST", "/registration/initialize", requireApiKey(initializeRegistrationHandler("passkey"))),
  row("POST", "/registration/finalize", finalizeRegistrationHandler("passkey")),
  row("POST", "/login/initialize", initializeLoginHandler),
  row("POST", "/login/finalize", finalizeLoginHandler("passkey")),
  row("POST", "/mfa/registration/initialize", requireApiKey(initializeRegistrationHandler("mfa"))),
  row("POST", "/mfa/registration/finalize", requireApiKey(finalizeRegistrationHandler("mfa"))),
  row("POST", "/mfa/login/initialize", requireApiKey(initializeMfaLoginHandler)),
  row("POST", "/mfa/login/finalize", requireApiKey(finalizeLoginHandler("mfa"))),
  row("POST", "/transaction/initialize", requireApiKey(initializeTransactionHandler)),
  row("POST", "/transaction/finalize", requireApiKey(finalizeTransactionHandler)),
  row("POST", "/transaction/confirm", confirmHandler, "same-origin"),
  row("POST", "/transaction/redeem", requireApiKey(redeemHandler)),
  row("GET", "/transaction/{user_id}", requireApiKey(listTransactionsHandler)),
  row("GET", "/audit_logs", requireApiKey(listAuditLogsHandler)),
  row("GET", "/credentials", requireApiKey(listCredentialsHandler)),
  row("GET", "/credentials/{credential_id}", requireApiKey(showCredentialHandler)),
  row("PATCH", "/credentials/{credential_id}", requireApiKey(renameCredentialHandler)),
  row("DELETE", "/credentials/{credential_id}", requireApiKey(removeCredentialHandler)),
  row("DELETE", "/users/{user_id}", requireApiKey(removeUserHandler)),
];

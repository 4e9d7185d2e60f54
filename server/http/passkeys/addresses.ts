import type { Address } from "../address.ts";
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
import { passkeyJwksHandler } from "./jwks.ts";
import { finalizeLoginHandler, initializeLoginHandler, initializeMfaLoginHandler } from "./login.ts";
import { finalizeRegistrationHandler, initializeRegistrationHandler } from "./registration.ts";
import {
  finalizeTransactionHandler,
  initializeTransactionHandler,
  listTransactionsHandler,
} from "./transactions.ts";

const address = (method: Address["method"], path: string, handler: Handler): Address => ({
  method,
  path: `/passkeys/{tenant_id}${path}`,
  handler,
  refusals: "passkeys",
  from: "anyone",
});

/** Endpoints of the passkey server (docs/passkey-server.md). The tenant id is the first segment after the prefix. */
export const passkeyAddresses: readonly Address[] = [
  address("GET", "/.well-known/jwks.json", passkeyJwksHandler),
  address("POST", "/registration/initialize", requireApiKey(initializeRegistrationHandler("passkey"))),
  address("POST", "/registration/finalize", finalizeRegistrationHandler("passkey")),
  address("POST", "/login/initialize", initializeLoginHandler),
  address("POST", "/login/finalize", finalizeLoginHandler("passkey")),
  address("POST", "/mfa/registration/initialize", requireApiKey(initializeRegistrationHandler("mfa"))),
  address("POST", "/mfa/registration/finalize", requireApiKey(finalizeRegistrationHandler("mfa"))),
  address("POST", "/mfa/login/initialize", requireApiKey(initializeMfaLoginHandler)),
  address("POST", "/mfa/login/finalize", requireApiKey(finalizeLoginHandler("mfa"))),
  address("POST", "/transaction/initialize", requireApiKey(initializeTransactionHandler)),
  address("POST", "/transaction/finalize", requireApiKey(finalizeTransactionHandler)),
  { ...address("POST", "/transaction/confirm", confirmHandler), from: "own page" },
  address("POST", "/transaction/redeem", requireApiKey(redeemHandler)),
  address("GET", "/transaction/{user_id}", requireApiKey(listTransactionsHandler)),
  address("GET", "/audit_logs", requireApiKey(listAuditLogsHandler)),
  address("GET", "/credentials", requireApiKey(listCredentialsHandler)),
  address("GET", "/credentials/{credential_id}", requireApiKey(showCredentialHandler)),
  address("PATCH", "/credentials/{credential_id}", requireApiKey(renameCredentialHandler)),
  address("DELETE", "/credentials/{credential_id}", requireApiKey(removeCredentialHandler)),
];

import type { Address } from "../address.ts";
import type { Handler } from "../handler-context.ts";
import { withKey } from "./api-key.ts";
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

/** The passkey server (`interface.md` 4.5 and 4.6). The tenant is the first segment after the prefix. */
export const passkeyAddresses: readonly Address[] = [
  address("GET", "/.well-known/jwks.json", passkeyJwksHandler),
  address("POST", "/registration/initialize", withKey(initializeRegistrationHandler("passkey"))),
  address("POST", "/registration/finalize", finalizeRegistrationHandler("passkey")),
  address("POST", "/login/initialize", initializeLoginHandler),
  address("POST", "/login/finalize", finalizeLoginHandler("passkey")),
  address("POST", "/mfa/registration/initialize", withKey(initializeRegistrationHandler("mfa"))),
  address("POST", "/mfa/registration/finalize", withKey(finalizeRegistrationHandler("mfa"))),
  address("POST", "/mfa/login/initialize", withKey(initializeMfaLoginHandler)),
  address("POST", "/mfa/login/finalize", withKey(finalizeLoginHandler("mfa"))),
  address("POST", "/transaction/initialize", withKey(initializeTransactionHandler)),
  address("POST", "/transaction/finalize", withKey(finalizeTransactionHandler)),
  { ...address("POST", "/transaction/confirm", confirmHandler), from: "own page" },
  address("POST", "/transaction/redeem", withKey(redeemHandler)),
  address("GET", "/transaction/{user_id}", withKey(listTransactionsHandler)),
  address("GET", "/audit_logs", withKey(listAuditLogsHandler)),
  address("GET", "/credentials", withKey(listCredentialsHandler)),
  address("GET", "/credentials/{credential_id}", withKey(showCredentialHandler)),
  address("PATCH", "/credentials/{credential_id}", withKey(renameCredentialHandler)),
  address("DELETE", "/credentials/{credential_id}", withKey(removeCredentialHandler)),
];

/** Entries that must not compile. `tsc` is the test: it reports an unused @ts-expect-error. */

import { type AuditContext, audit, auditAttempt } from "./audit.ts";

declare const context: AuditContext & { client: { source: string } };

// @ts-expect-error a failure without a reason
audit(context, "mail_failed", { attempts: 1 });

// @ts-expect-error a failure without details
audit(context, "authenticator_request_failed");

// @ts-expect-error a reason that is not in the list of this type
audit(context, "authenticator_request_failed", { reason: "unknown_identifier" });

// @ts-expect-error a failure of the passkey server without a reason
audit(context, "webauthn_authentication_final_failed", { error: "failed to validate assertion" });

// @ts-expect-error an attempt without a reason
auditAttempt(context, "login_failure", { method: "password" });

// @ts-expect-error a reason that is text, which may be anything
auditAttempt(context, "login_failure", { method: "password", reason: "wrong" as string });

// @ts-expect-error a key that was rejected without a reason
auditAttempt(context, "api_key_rejected", { interface: "admin" });

auditAttempt(context, "login_failure", { method: "password", reason: "wrong" });
audit(context, "mail_failed", { reason: "expired" });
audit(context, "login_success");

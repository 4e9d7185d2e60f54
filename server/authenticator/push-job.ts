import type { MailJob } from "../mail/mail-job.ts";

/** Notifies a user's authenticators of a pending request. */
export interface PushJob {
  name: "push_authenticator_request";
  tenantId: string;
  requestId: string;
  operation: "AUTH";
  /** URL of the request, with the token that authorizes the answer. */
  url: string;
  pushTokens: string[];
  /** ISO 8601 */
  validUntil: string;
  /** From the creation of the request to its expiry. */
  lifetimeSeconds: number;
}

/** Work that an authenticator request causes. */
export type AuthenticatorJob = MailJob | PushJob;

/** Notifies a user's authenticators of a pending request. */
export interface PushJob {
  name: "push_authenticator_request";
  tenantId: string;
  requestId: string;
  operation: "AUTH";
  /** Address of the request, with the token that authorises the answer. */
  url: string;
  pushTokens: string[];
  /** ISO 8601 */
  validUntil: string;
  /** From the request's start to its end. */
  lifetimeSeconds: number;
}

/** Error codes of a failed sign-in, those of RFC 6749, 4.1.2.1 where one applies. */
export type ThirdPartyErrorCode = "invalid_request" | "access_denied" | "server_error" | (string & {});

/**
 * A failed sign-in at a provider.
 *
 * `code` and `message` are sent to the application. `reason` is a keyword for the operator, in the log and the audit
 * log; it contains no input of providers or clients.
 */
export class ThirdPartyError extends Error {
  readonly code: ThirdPartyErrorCode;
  readonly reason: string;
  constructor(code: ThirdPartyErrorCode, message: string, reason: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    this.reason = reason;
  }
}

/** What a person is told who comes back without having got in; names of RFC 6749, 4.1.2.1, where there is one. */
export type ThirdPartyErrorCode = "invalid_request" | "access_denied" | "server_error" | (string & {});

/**
 * Why a sign-in at a provider came to nothing.
 *
 * `code` and `message` are told to the person's application. `reason` is a word for the operator, in the log and the
 * audit log: it holds nothing that a provider or a visitor sent.
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

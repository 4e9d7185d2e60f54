/** Error codes of a failed sign-in, those of RFC 6749, 4.1.2.1 where one applies. */
export type ThirdPartyErrorCode = "invalid_request" | "access_denied" | "server_error" | (string & {});

/** Every reason of a failed sign-in at a provider, with what it means for the operator. */
export const thirdPartyFailures = {
  access_denied: "The provider did not let the user in, or the user turned back.",
  provider_refused: "The provider refused the sign-in; `detail` is its error code.",
  unreachable: "The provider could not be reached.",
  timeout: "The provider did not answer in time.",
  unusable_metadata: "The metadata of the OpenID Connect provider cannot be used.",
  metadata_unusable: "The metadata of the SAML provider cannot be used.",
  disabled: "The provider was disabled during the sign-in.",
  provider_disabled: "The SAML provider is not enabled.",
  answer_too_long: "The provider's answer is too long.",
  answer_malformed: "The provider's answer cannot be read; `detail` says what is wrong with it.",
  answer_not_verified: "The provider's answer could not be verified; `detail` is the check that failed.",
  error_code: "The provider's answer is an error without a valid code.",
  form_unreadable: "The form with the provider's answer cannot be read.",
  api_refused: "The provider's API did not tell who the user is.",
  api_unreadable: "The answer of the provider's API cannot be read.",
  no_subject: "The provider did not say who the user is.",
  weak_key: "The provider publishes a key under which signatures can be forged.",
  azp: "The ID token is meant for another client.",
  auth_time: "The provider did not ask the user to sign in again.",
  status_not_success: "The status of the SAML response is not success.",
  unknown_issuer: "The SAML response is of a provider that is not configured.",
  unsolicited: "The SAML response answers no request, and the provider may not start sign-ins.",
  signature: "No certificate of the SAML provider verifies the signature.",
  version: "The SAML version is not 2.0.",
  issue_instant: "The SAML response was issued in the future; compare the clocks.",
  issuer: "The SAML response has the issuer of another provider.",
  destination: "The SAML response is for another address.",
  in_response_to: "The SAML response answers another request.",
  subject_confirmation: "The SAML assertion has no bearer confirmation.",
  recipient: "The SAML assertion is for another address.",
  subject_confirmation_time: "The SAML assertion is not valid now; compare the clocks.",
  conditions_time: "The conditions of the SAML assertion do not hold now; compare the clocks.",
  audience: "The SAML assertion is for another audience.",
  authn_statement: "The SAML assertion states no authentication that is valid or recent enough.",
  name_id: "The SAML assertion has no name identifier.",
  replay: "The SAML assertion was used before.",
  unknown_state: "The sign-in was completed before, or has expired.",
  other_browser: "The sign-in was started in another browser.",
  redirect_to: "`redirect_to` is not an allowed address.",
  rate_limit: "Too many sign-ins were started.",
  user_conflict: "An account has the address, and the provider may not be linked to it.",
  signup_disabled: "Registration is closed.",
  identity_already_linked: "The identity is that of another account.",
  identity_not_linked: "The identity is not linked to the account that reauthenticates.",
  unexpected: "The sign-in failed on our side; the log has the error.",
} as const satisfies Record<string, string>;

export type ThirdPartyFailureReason = keyof typeof thirdPartyFailures;

/** More about a failure. */
interface ThirdPartyErrorOptions extends ErrorOptions {
  /** For the operator: a keyword or fixed sentence; a provider's error code if it has the syntax of one. */
  detail?: string | undefined;
}

/**
 * A failed sign-in at a provider.
 *
 * `code` and `message` are sent to the application. `reason` and `detail` are for the operator, in the log and the audit
 * log; they contain no text of providers or clients.
 */
export class ThirdPartyError extends Error {
  readonly code: ThirdPartyErrorCode;
  readonly reason: ThirdPartyFailureReason;
  readonly detail: string | undefined;
  constructor(
    code: ThirdPartyErrorCode,
    message: string,
    reason: ThirdPartyFailureReason,
    { detail, ...options }: ThirdPartyErrorOptions = {},
  ) {
    super(message, options);
    this.code = code;
    this.reason = reason;
    this.detail = detail;
  }
}

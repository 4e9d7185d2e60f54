/**
 * Every error of the passkey server: status, title, and details where they are always the same. `{}` in a title is the
 * subject of the error. Published clients match on the titles, so they must not change.
 */
export const passkeyErrors = {
  invalid_request: [400, "unable to validate request"],
  no_suitable_credentials: [400, "user has no suitable credentials for this operation"],
  no_login_credentials: [
    400,
    "failed to create webauthn assertion options for login: user has no suitable credentials for this operation",
  ],
  user_not_found: [404, "user not found"],
  too_many_challenges: [429, "Too Many Requests", "too many challenges were asked for, try again later"],

  malformed_attestation: [400, "unable to parse credential creation response"],
  unknown_registration_challenge: [400, "received challenge does not match with any stored one"],
  attestation_rejected: [400, "failed to validate attestation"],
  user_not_verified: [422, "failed to validate attestation: the user was not verified"],
  credential_exists: [409, "credential already exists", "a credential with this id was registered before"],

  malformed_assertion: [400, "unable to finish login"],
  unknown_login_challenge: [
    401,
    "failed to get session data",
    "received challenge does not match with any stored one",
  ],
  unknown_user_handle: [401, "failed to get user handle"],
  assertion_rejected: [401, "failed to validate assertion"],
  mfa_credential_at_login: [400, "MFA credentials are not usable for normal login"],

  credential_not_found: [404, "credential with id '{}' not found"],

  transaction_user_not_found: [404, "unable to find user"],
  transaction_exists: [409, "transaction already exists"],
  malformed_transaction_assertion: [400, "unable to finish transaction"],
  mfa_credential_at_transaction: [400, "MFA credentials are not usable for transactions"],
  invalid_user_id: [400, "invalid user id"],

  confirmation_not_found: [404, "confirmation not found"],
  confirmation_expired: [410, "confirmation has expired"],
  confirmation_answered: [409, "confirmation was answered before"],
  confirmation_unanswered: [409, "confirmation was not answered yet"],
  transaction_declined: [403, "declined by the user"],
  unknown_code: [400, "unable to redeem code", "the code is not valid, has expired, or was redeemed before"],
} as const satisfies Record<string, readonly [status: number, title: string, details?: string]>;

export type PasskeyErrorCode = keyof typeof passkeyErrors;

/** An error as clients receive it. */
export interface PasskeyError {
  status: number;
  title: string;
  /** The cause, for developers; empty where the title is sufficient. */
  details: string;
}

export interface PasskeyRejection {
  ok: false;
  reason: PasskeyErrorCode;
  error: PasskeyError;
  /** Whole seconds, at least 1, where waiting helps. */
  retryAfterSeconds?: number;
}

/**
 * Makes the rejection for an error of the table.
 *
 * @param more `details` in place of those in the table; `about`: the replacement of `{}` in the title
 */
export function rejectPasskeyRequest(
  reason: PasskeyErrorCode,
  more: { details?: string; about?: string; retryAfterSeconds?: number } = {},
): PasskeyRejection {
  const [status, title, details = ""]: readonly [number, string, string?] = passkeyErrors[reason];
  const { about = "", retryAfterSeconds } = more;
  return {
    ok: false,
    reason,
    // A function, because `replace` would interpret dollar signs in a string.
    error: { status, title: title.replace("{}", () => about), details: more.details ?? details },
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  };
}

/**
 * Every error of the flow protocol. A flow error is reported on the state; an input error on its input, together with
 * the flow error `form_data_invalid_error`.
 */

interface ErrorDefinition {
  on: "flow" | "input";
  status: number;
  message: string;
  /** The nearest code that published components have words for, if they have none for this one. */
  published?: string;
}

export const errors = {
  form_data_invalid_error: { on: "flow", status: 400, message: "The request is not valid." },
  passkey_invalid: { on: "flow", status: 401, message: "This passkey could not be verified." },
  webauthn_credential_invalid_mfa_only: {
    on: "flow",
    status: 401,
    message: "This security key is a second factor only.",
  },
  unauthorized: { on: "flow", status: 401, message: "Sign in first." },
  forbidden: {
    on: "flow",
    status: 403,
    message: "This is not available here.",
    published: "operation_not_permitted_error",
  },
  not_found: { on: "flow", status: 404, message: "Not found." },
  platform_authenticator_required: {
    on: "flow",
    status: 401,
    message: "This requires a platform authenticator.",
  },
  user_conflict: {
    on: "flow",
    status: 400,
    message: "An account with this email address exists. Sign in to it, and connect the provider there.",
    published: "email_already_exists",
  },
  account_blocked: {
    on: "flow",
    status: 401,
    message: "This account is blocked.",
    published: "operation_not_permitted_error",
  },
  signup_disabled: {
    on: "flow",
    status: 400,
    message: "Sign-up is disabled.",
    published: "operation_not_permitted_error",
  },
  third_party_access_denied: {
    on: "flow",
    status: 400,
    message: "The identity provider denied access, or the user cancelled.",
  },
  identity_already_linked: {
    on: "flow",
    status: 400,
    message: "This identity belongs to another account.",
    published: "operation_not_permitted_error",
  },
  identity_not_linked: {
    on: "flow",
    status: 400,
    message: "This identity is not linked to this account.",
    published: "operation_not_permitted_error",
  },
  passcode_max_attempts_reached: {
    on: "flow",
    status: 401,
    message: "Too many incorrect codes. Request a new one.",
  },
  authenticator_request_pending: {
    on: "flow",
    status: 400,
    message: "The authenticator has not confirmed yet.",
  },
  authenticator_request_failed: { on: "flow", status: 401, message: "The authenticator did not confirm." },
  authenticator_request_expired: {
    on: "flow",
    status: 400,
    message: "The request to the authenticator has expired.",
  },
  operation_not_permitted_error: { on: "flow", status: 403, message: "This operation is not permitted." },
  flow_discontinuity_error: {
    on: "flow",
    status: 400,
    message: "No login method is available for this account.",
  },
  flow_expired_error: { on: "flow", status: 410, message: "This flow has expired. Start again." },
  rate_limit_exceeded: { on: "flow", status: 429, message: "Too many requests. Try again later." },
  temporarily_unavailable: {
    on: "flow",
    status: 503,
    message: "This is temporarily unavailable. Try again in a moment.",
    published: "technical_error",
  },
  technical_error: { on: "flow", status: 500, message: "Something went wrong on our side." },

  value_missing_error: { on: "input", status: 400, message: "A value is required." },
  value_invalid_error: { on: "input", status: 400, message: "The value is not valid." },
  value_too_short_error: { on: "input", status: 400, message: "The value is too short." },
  value_too_long_error: { on: "input", status: 400, message: "The value is too long." },
  email_already_exists: { on: "input", status: 400, message: "This email address is taken." },
  username_already_exists: { on: "input", status: 400, message: "This username is taken." },
  unknown_email_error: { on: "input", status: 400, message: "No account has this email address." },
  unknown_username_error: { on: "input", status: 400, message: "No account has this username." },
  phone_number_already_exists: {
    on: "input",
    status: 400,
    message: "This phone number is taken.",
    published: "value_invalid_error",
  },
  phone_number_not_allowed: {
    on: "input",
    status: 400,
    message: "This number cannot receive codes: mobile numbers of the allowed countries are accepted.",
    published: "value_invalid_error",
  },
  unknown_phone_number_error: {
    on: "input",
    status: 400,
    message: "No account has this phone number.",
    published: "value_invalid_error",
  },
  invalid_username_error: {
    on: "input",
    status: 400,
    message: "A username consists of letters a to z, digits and underscores.",
  },
  otp_code_invalid: { on: "input", status: 400, message: "Incorrect code.", published: "passcode_invalid" },
  otp_code_already_used: {
    on: "input",
    status: 400,
    message: "This code was already used. Wait for the next one.",
    published: "passcode_invalid",
  },
  recovery_code_invalid: {
    on: "input",
    status: 400,
    message: "Incorrect recovery code.",
    published: "passcode_invalid",
  },
  invalid_metadata_error: {
    on: "input",
    status: 400,
    message: "Metadata is a JSON object of at most 3000 characters.",
  },
  passcode_invalid: { on: "input", status: 400, message: "Incorrect code." },
} as const satisfies Record<string, ErrorDefinition>;

export type ErrorCode = keyof typeof errors;

export type FlowErrorCode = {
  [Code in ErrorCode]: (typeof errors)[Code]["on"] extends "flow" ? Code : never;
}[ErrorCode];

export type InputErrorCode = Exclude<ErrorCode, FlowErrorCode>;

export function isInputError(code: ErrorCode): code is InputErrorCode {
  return errors[code].on === "input";
}

/** Error of the last step, stored with the flow until the next one. */
export interface StepError {
  code: FlowErrorCode;
  inputs?: Record<string, { code: InputErrorCode; message?: string }>;
  /** The rejected action. */
  action?: string;
  /** Whether it occurred while the state was entered; entering again clears it. */
  entering?: true;
  /** Sent values of preserved inputs. */
  values?: Record<string, unknown>;
  /** Added to the payload of the state, for instance the seconds to wait. */
  payload?: Record<string, unknown>;
}

/** Builds the error of a step from a code; an input error needs the name of its input. */
export function stepError(
  code: ErrorCode,
  details: { input?: string; message?: string; payload?: StepError["payload"] } = {},
): StepError {
  const payload = details.payload ? { payload: details.payload } : {};
  if (!isInputError(code)) return { code, ...payload };
  const entry = { code, ...(details.message ? { message: details.message } : {}) };
  return {
    code: "form_data_invalid_error",
    inputs: details.input ? { [details.input]: entry } : {},
    ...payload,
  };
}

import { describe, expect, test } from "vitest";
import { loadConfig } from "../config/load.ts";
import { detailedState, publishedState } from "./error-codes.ts";
import { type ErrorCode, errors } from "./errors.ts";
import { showError } from "./show.ts";

/** The codes that `@teamhanko/hanko-elements` 2.7.0 has words for, and one that its translations share with input errors. */
const withWords = [
  "technical_error",
  "flow_expired_error",
  "value_invalid_error",
  "passcode_invalid",
  "passkey_invalid",
  "passcode_max_attempts_reached",
  "rate_limit_exceeded",
  "unknown_username_error",
  "unknown_email_error",
  "username_already_exists",
  "invalid_username_error",
  "email_already_exists",
  "not_found",
  "operation_not_permitted_error",
  "flow_discontinuity_error",
  "form_data_invalid_error",
  "unauthorized",
  "value_missing_error",
  "value_too_long_error",
  "value_too_short_error",
  "webauthn_credential_invalid_mfa_only",
  "platform_authenticator_required",
  "third_party_access_denied",
];

/** Codes of states and inputs that published components do not draw. */
const neverShown = [
  "invalid_metadata_error",
  "authenticator_request_pending",
  "authenticator_request_failed",
  "authenticator_request_expired",
];

const codes = Object.keys(errors) as ErrorCode[];

describe("the codes for published clients", () => {
  const sent = (code: ErrorCode) => publishedState(showError(code), loadConfig({}, "/nowhere")).error?.code;

  test.each(codes.filter((code) => !neverShown.includes(code)))("%s is sent as a code with words", (code) => {
    expect(withWords).toContain(sent(code));
  });

  test("replace only codes without words", () => {
    const replaced = codes.filter((code) => sent(code) !== code);
    expect(replaced.toSorted()).toEqual([
      "account_blocked",
      "forbidden",
      "identity_already_linked",
      "identity_not_linked",
      "otp_code_already_used",
      "otp_code_invalid",
      "phone_number_already_exists",
      "phone_number_not_allowed",
      "recovery_code_invalid",
      "signup_disabled",
      "temporarily_unavailable",
      "unknown_phone_number_error",
      "user_conflict",
    ]);
  });

  test("are precise if configured so", () => {
    const precise = loadConfig({ STILE_COMPATIBILITY_ERROR_CODES: "precise" }, "/nowhere");
    for (const code of codes) expect(publishedState(showError(code), precise).error?.code).toBe(code);
  });
});

test.each(["published", "precise"])("our page has the precise code beside %s ones", (setting) => {
  const config = loadConfig({ STILE_COMPATIBILITY_ERROR_CODES: setting }, "/nowhere");
  for (const code of codes) {
    const state = showError(code);
    expect(detailedState(state, config).error).toEqual({
      ...publishedState(state, config).error,
      detail_code: code,
    });
  }
});

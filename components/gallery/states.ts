import type { StateName } from "#server/flow/protocol-names";
import type { FlowState } from "#server/flow/wire";
import * as payloads from "./payloads.ts";
import { CSRF_TOKEN, drawAll, failure, type Picture, tooFast, undeclared } from "./picture.ts";

const providers = [
  { name: "Google", value: "google" },
  { name: "GitHub", value: "github" },
  { name: "Acme Works", value: "custom_acme" },
];
const providing = (...values: string[]) => ({
  provider: { allowed_values: providers.filter(({ value }) => values.includes(value)) },
});
/** Of a browser, the one that is signed in first. */
const accounts = [
  { name: "ada@example.org", value: "session.1" },
  { name: "g•••e@example.org", value: "Zm9yIHRoZSBwaWN0" },
];
const everyProvider = { thirdparty_oauth: providing("google", "github", "custom_acme") };

/**
 * Each state, and its variants, named `<state>_<variant>`. A state without a picture does not compile; an action that no
 * picture shows fails `gallery.test.ts`.
 */
const pictures = {
  preflight: {},
  account_choice: {
    payload: {},
    inputs: {
      account_choose: { chosen_account: { allowed_values: accounts } },
      account_forget: { forgotten_account: { allowed_values: accounts.slice(1) } },
    },
  },
  login_init: { without: ["thirdparty_oauth"], payload: { request_options: payloads.requestOptions } },
  login_init_without_passkeys: { only: ["continue_with_login_identifier"], payload: {} },
  login_init_by_identifier: {
    only: ["continue_with_login_identifier"],
    payload: {},
    inputs: { continue_with_login_identifier: { email: null, identifier: { max_length: 255 } } },
  },
  login_init_wrong_email: {
    inputs: { continue_with_login_identifier: { email: { value: "ada@example" } } },
    refused: { email: "value_invalid_error" },
  },
  login_init_passkey_refused: { error: "passkey_invalid" },
  login_init_with_a_provider: {
    without: ["webauthn_verify_assertion_response"],
    payload: {},
    inputs: { thirdparty_oauth: providing("custom_acme") },
  },
  login_init_with_providers: {
    only: ["continue_with_login_identifier", "thirdparty_oauth"],
    payload: {},
    inputs: everyProvider,
  },
  login_passkey: {
    without: ["continue_to_login_method_chooser"],
    payload: { request_options: payloads.requestOptions },
  },
  login_passkey_used_last: { without: [] },
  login_passkey_as_second_factor: { payload: { request_options: payloads.securityKeyRequest } },
  login_passkey_refused: { payload: {}, error: "passkey_invalid" },
  login_passkey_unknown: {
    payload: {
      request_options: payloads.requestOptions,
      unknown_credential: { rp_id: "localhost", credential_id: "Zm9yZ290dGVu" },
    },
    error: "passkey_invalid",
  },
  login_method_chooser: { without: ["thirdparty_oauth", "continue_to_phone_confirmation"] },
  login_method_chooser_proof: {
    without: ["webauthn_generate_request_options"],
    payload: { wanted_action: "password_update" },
    inputs: { thirdparty_oauth: providing("github") },
  },
  login_password: { without: ["continue_to_login_method_chooser"] },
  login_password_proof: { payload: { wanted_action: "account_delete" } },
  login_password_used_last: { without: [] },
  login_password_wrong: { refused: { password: "value_invalid_error" } },
  login_password_too_fast: { waits: 4 },
  login_password_recovery: {},
  passcode_confirmation: {
    without: ["continue_to_login_method_chooser"],
    payload: { code_lifetime: 300 },
  },
  passcode_confirmation_used_last: { without: [] },
  passcode_confirmation_alphanumeric: { inputs: { verify_passcode: { code: { charset: "alphanumeric" } } } },
  passcode_confirmation_wrong: { refused: { code: "passcode_invalid" } },
  passcode_confirmation_too_fast: { waits: 42 },
  passcode_confirmation_exhausted: { error: "passcode_max_attempts_reached" },
  phone_confirmation: {
    without: ["continue_to_login_method_chooser"],
    payload: { code_lifetime: 300, identifier: "+4915112345678" },
  },
  phone_confirmation_used_last: { without: [] },
  phone_confirmation_wrong: { refused: { code: "passcode_invalid" } },
  password_creation: {},
  onboarding_email: { inputs: { email_address_set: { email: { required: false } } } },
  onboarding_email_no_address: { without: ["skip"], payload: { provider_gave_no_address: true } },
  onboarding_username: {},
  onboarding_username_taken: {
    inputs: { username_set: { username: { value: "ada" } } },
    refused: { username: "username_already_exists" },
  },
  credential_onboarding_chooser: {},
  onboarding_create_passkey: {},
  onboarding_create_passkey_conditional: {
    without: ["back"],
    inputs: {
      webauthn_generate_creation_options: { conditional: { type: "boolean", hidden: true, required: false } },
    },
  },
  onboarding_verify_passkey_attestation: { payload: { creation_options: payloads.creationOptions } },
  onboarding_verify_passkey_attestation_refused: { payload: {}, error: "passkey_invalid" },
  onboarding_verify_security_key_attestation: {
    of: "onboarding_verify_passkey_attestation",
    payload: { creation_options: payloads.securityKeyCreation },
  },
  registration_init: {
    without: ["thirdparty_oauth"],
    inputs: {
      register_login_identifier: { username: { required: false, min_length: 3, max_length: 32 } },
      remember_me: { remember_me: { value: true } },
    },
  },
  registration_init_with_providers: {
    only: ["register_login_identifier", "thirdparty_oauth"],
    inputs: { ...everyProvider, register_login_identifier: { username: null } },
  },
  registration_init_closed: { only: [] },
  thirdparty: { payload: { redirect_url: "https://accounts.example/authorize?state=1" } },
  thirdparty_rejected: {
    payload: {
      taken_address: "ada@example.org",
      redirect_url: "https://login.example/?error=user_conflict",
    },
    error: "user_conflict",
  },
  thirdparty_no_new_accounts: {
    payload: { redirect_url: "https://login.example/?error=signup_disabled" },
    error: "signup_disabled",
  },
  thirdparty_idp_initiated: { only: ["exchange_token"], payload: {} },
  login_otp: { without: ["continue_to_login_authenticator"] },
  login_otp_with_an_authenticator: { without: [] },
  login_otp_wrong: { refused: { otp_code: "otp_code_invalid" } },
  login_otp_recovery_code_wrong: { refused: { recovery_code: "recovery_code_invalid" } },
  login_security_key: { without: ["continue_to_login_authenticator"] },
  login_security_key_with_an_authenticator: { without: ["continue_to_login_otp"] },
  login_authenticator: { payload: payloads.authenticatorRequest },
  login_authenticator_declined: { error: "authenticator_request_failed" },
  login_authenticator_too_many: { payload: {}, waits: 42 },
  login_sms: { only: ["verify_passcode", "resend_passcode", "recovery_code_validate"] },
  login_sms_wrong: { refused: { code: "passcode_invalid" } },
  login_sms_proof: {
    only: ["verify_passcode", "resend_passcode", "recovery_code_validate", "back"],
    payload: { wanted_action: "account_delete" },
  },
  login_sms_with_an_app_since: { without: ["back"] },
  mfa_method_chooser: {},
  mfa_otp_secret_creation: { payload: payloads.otpSecret },
  mfa_security_key_creation: {},
  mfa_phone_creation: {},
  mfa_phone_creation_not_allowed: {
    inputs: { phone_set: { phone: { value: "+44 7911 123456" } } },
    refused: { phone: "phone_number_not_allowed" },
  },
  device_trust: {},
  profile_init: {
    without: ["password_create", "username_create", "continue_to_otp_secret_creation"],
    payload: payloads.profile,
    inputs: {
      connect_thirdparty_oauth_provider: providing("google", "custom_acme"),
      disconnect_thirdparty_oauth_provider: {
        identity_id: { allowed_values: [{ name: "GitHub", value: "i1" }] },
      },
      email_delete: { email_id: { allowed_values: [{ name: "old@example.org", value: "e1" }] } },
      username_update: { username: { value: "ada" } },
      session_delete: { session_id: { allowed_values: [{ name: "s2", value: "s2" }] } },
    },
  },
  profile_init_wrong_email: {
    inputs: { email_create: { email: { value: "ada@" } } },
    refused: { email: "value_invalid_error" },
  },
  profile_init_wrong_name: { refused: { passkey_name: "value_missing_error" } },
  profile_init_not_found: { error: "not_found" },
  profile_init_bare: {
    only: [
      "email_create",
      "username_create",
      "password_create",
      "webauthn_credential_create",
      "continue_to_otp_secret_creation",
    ],
    payload: { user: { id: payloads.ada.id, mfa_config: { auth_app_set_up: false } } },
  },
  profile_init_acted_as: {
    only: ["name_update", "picture_update"],
    payload: {
      ...payloads.profile,
      impersonation: {
        name: "grace@example.org",
        until: "2026-11-24T09:56:00.000Z",
        reason: "Ticket 4711: the user sees no invoices",
      },
    },
  },
  profile_init_with_codes: { payload: { ...payloads.profile, recovery_codes: payloads.recoveryCodes } },
  webauthn_credential_verification: { payload: { creation_options: payloads.creationOptions } },
  account_deleted: {},
  device_code: { payload: { identifier: "ada@example.org" } },
  consent: { payload: payloads.consent },
  consent_again: { payload: { ...payloads.consent, authorization: payloads.longAuthorization } },
  consent_of_an_unlisted_one: {
    payload: { ...payloads.consent, authorization: payloads.unlistedAuthorization },
  },
  consent_to_a_device: {
    payload: { ...payloads.consent, authorization: payloads.deviceAuthorization },
  },
  consent_answered_for_a_device: { payload: { device: true } },
  consent_answered: {
    payload: { redirect_url: "https://login.example.org/oauth/authorize/k3JmP0aQ5sT8uVwXyZ1bC" },
  },
  success: {
    payload: {
      user: {
        id: payloads.ada.id,
        emails: [
          { id: "1", address: "old@example.org", is_primary: false, is_verified: true },
          { id: "2", address: "ada@example.org", is_primary: true, is_verified: true },
        ],
      },
      claims: { subject: payloads.ada.id, expiration: "2030-01-01T00:00:00Z" },
      last_login: { login_method: "passkey" },
    },
  },
  success_with_codes: { payload: { user: payloads.ada, recovery_codes: payloads.recoveryCodes } },
} satisfies Record<StateName, Picture> & Record<string, Picture>;

const drawn = drawAll(pictures);

const postcard = undeclared("send_postcard", "Sends you a postcard.", { country: {} });

export const states = {
  ...drawn,
  profile_init_of_another_version: {
    ...drawn.profile_init,
    actions: { ...drawn.profile_init.actions, send_postcard: postcard },
  },
  error_401: failure("unauthorized"),
  error_403: failure("operation_not_permitted_error"),
  error_410: failure("flow_expired_error"),
  error_429: tooFast(failure("rate_limit_exceeded"), 42),
  error_500: failure("technical_error"),
  unknown: {
    name: "verify_home_address",
    status: 409,
    csrf_token: CSRF_TOKEN,
    payload: { otp_secret: "JBSWY3DPEHPK3PXP", phase_of_the_moon: "waxing" },
    error: { code: "address_disputed", message: "This address is disputed." },
    links: [{ name: "Privacy", href: "https://example.org/privacy", category: "legal", target: "_blank" }],
    actions: {
      confirm_home_address: undeclared("confirm_home_address", "Tells us where you live.", {
        street_name: { value: "Mill Lane" },
        house_number: { type: "number" },
        country: {
          allowed_values: [
            { name: "Ireland", value: "ie" },
            { name: "Portugal", value: "pt" },
          ],
        },
        newsletter: { type: "boolean", required: false },
        opening_hours: { type: "json", required: false },
        trace: { hidden: true, value: "t-1" },
      }),
      choose_day: undeclared("choose_day", "", {
        day: {
          allowed_values: [
            { name: "Monday", value: 1 },
            { name: "Tuesday", value: 2 },
          ],
        },
      }),
      call_me: undeclared("call_me", "We ring you instead.", {}),
      back: undeclared("back", "", {}),
    },
  },
} satisfies Record<string, FlowState>;

export type DrawnState = keyof typeof states;

import type { ActionDescriptor, FlowError, FlowState, InputDescriptor } from "#server/flow/wire";

/** States as the server sends them, for tests and for looking at. */

function action(name: string, inputs: InputDescriptor[] = [], description = ""): ActionDescriptor {
  return {
    action: name,
    href: `/login?action=${name}%40f47ac10b-58cc-4372-a567-0e02b2c3d479`,
    description,
    inputs: Object.fromEntries(inputs.map((input) => [input.name, input])),
  };
}

function input(
  name: string,
  type: InputDescriptor["type"],
  more: Partial<InputDescriptor> = {},
): InputDescriptor {
  return { name, type, required: true, hidden: false, ...more };
}

function state(name: string, actions: ActionDescriptor[], more: Partial<FlowState> = {}): FlowState {
  return {
    name,
    status: 200,
    payload: {},
    csrf_token: "k3JmP0aQ5sT8uVwXyZ1bC2dE4fG6hI7j",
    actions: Object.fromEntries(actions.map((entry) => [entry.action, entry])),
    links: null,
    ...more,
  };
}

function refusal(status: number, code: string, message: string): FlowState {
  return state("error", [], { status, csrf_token: "", error: { code, message } });
}

const requestOptions = {
  publicKey: {
    challenge: "ZE5PUGVYRlRYWnR5b3VzdGlsZWNoYWxsZW5nZQ",
    timeout: 300_000,
    rpId: "localhost",
    userVerification: "preferred",
  },
};

const creationOptions = {
  publicKey: {
    rp: { name: "Stile", id: "localhost" },
    user: { name: "ada@example.org", displayName: "ada@example.org", id: "9HrBC1jMQ3KlZw4CssPUeQ" },
    challenge: "ZE5PUGVYRlRYWnR5b3VzdGlsZWNoYWxsZW5nZQ",
    pubKeyCredParams: [{ type: "public-key", alg: -7 }],
    timeout: 300_000,
    authenticatorSelection: {
      requireResidentKey: true,
      residentKey: "required",
      userVerification: "preferred",
    },
    attestation: "none",
  },
};

const invalid: FlowError = { code: "form_data_invalid_error", message: "The request is not valid." };

const email = (more: Partial<InputDescriptor> = {}) =>
  input("email", "email", { min_length: 3, max_length: 120, ...more });
const newPassword = () => input("new_password", "password", { min_length: 8, max_length: 256 });
const code = (more: Partial<InputDescriptor> = {}) =>
  input("code", "string", { min_length: 6, max_length: 6, ...more });
const username = (more: Partial<InputDescriptor> = {}) =>
  input("username", "string", { min_length: 3, max_length: 32, ...more });

const preflight = () =>
  state("preflight", [
    action("register_client_capabilities", [
      input("webauthn_available", "boolean", { hidden: true }),
      input("webauthn_conditional_mediation_available", "boolean", { required: false, hidden: true }),
      input("webauthn_platform_authenticator_available", "boolean", { required: false, hidden: true }),
    ]),
  ]);

const loginInit = (more: Partial<FlowState> = {}, address: Partial<InputDescriptor> = {}) =>
  state(
    "login_init",
    [
      action("continue_with_login_identifier", [email(address)]),
      action("webauthn_generate_request_options"),
      action("webauthn_verify_assertion_response", [input("assertion_response", "json")]),
      action("remember_me", [input("remember_me", "boolean")]),
    ],
    { payload: { request_options: requestOptions }, ...more },
  );

const passcodeConfirmation = (more: Partial<FlowState> = {}, fault?: FlowError) =>
  state(
    "passcode_confirmation",
    [
      action("verify_passcode", [code(fault ? { error: fault } : {})]),
      action("resend_passcode"),
      action("back"),
    ],
    more,
  );

const passwordLogin = (more: Partial<FlowState> = {}, fault?: FlowError) =>
  state(
    "login_password",
    [
      action("password_login", [input("password", "password", fault ? { error: fault } : {})]),
      action("continue_to_passcode_confirmation_recovery"),
      action("back"),
    ],
    more,
  );

export const states = {
  preflight: preflight(),
  login_init: loginInit(),
  login_init_without_passkeys: state("login_init", [action("continue_with_login_identifier", [email()])]),
  login_init_by_identifier: state("login_init", [
    action("continue_with_login_identifier", [input("identifier", "string", { max_length: 255 })]),
  ]),
  login_init_wrong_email: loginInit(
    { status: 400, error: invalid },
    { value: "ada@example", error: { code: "value_invalid_error", message: "The value is not valid." } },
  ),
  login_init_passkey_refused: loginInit({
    status: 401,
    error: { code: "passkey_invalid", message: "This passkey could not be verified." },
  }),
  login_passkey: state(
    "login_passkey",
    [action("webauthn_verify_assertion_response", [input("assertion_response", "json")]), action("back")],
    { payload: { request_options: requestOptions } },
  ),
  login_method_chooser: state("login_method_chooser", [
    action("continue_to_password_login"),
    action("continue_to_passcode_confirmation"),
    action("webauthn_generate_request_options"),
    action("back"),
  ]),
  login_password: passwordLogin(),
  login_password_wrong: passwordLogin(
    { status: 400, error: invalid },
    { code: "value_invalid_error", message: "The value is not valid." },
  ),
  login_password_too_fast: passwordLogin({
    status: 429,
    payload: { resend_after: 4, retry_after: 4 },
    error: { code: "rate_limit_exceeded", message: "Too many requests." },
  }),
  login_password_recovery: state("login_password_recovery", [action("password_recovery", [newPassword()])]),
  passcode_confirmation: passcodeConfirmation(),
  passcode_confirmation_wrong: passcodeConfirmation(
    { status: 400, error: invalid },
    { code: "passcode_invalid", message: "This code is not right." },
  ),
  passcode_confirmation_too_fast: passcodeConfirmation({
    status: 429,
    payload: { resend_after: 42, retry_after: 42 },
    error: { code: "rate_limit_exceeded", message: "Too many requests." },
  }),
  passcode_confirmation_exhausted: passcodeConfirmation({
    status: 401,
    error: { code: "passcode_max_attempts_reached", message: "The code was entered wrong too many times." },
  }),
  password_creation: state("password_creation", [
    action("register_password", [newPassword()]),
    action("skip"),
    action("back"),
  ]),
  onboarding_email: state("onboarding_email", [
    action("email_address_set", [email({ required: false })]),
    action("skip"),
  ]),
  onboarding_username: state(
    "onboarding_username",
    [
      action("username_set", [
        username({
          value: "ada",
          error: { code: "username_already_exists", message: "This username is taken." },
        }),
      ]),
      action("skip"),
    ],
    { status: 400, error: invalid },
  ),
  credential_onboarding_chooser: state("credential_onboarding_chooser", [
    action("continue_to_passkey_registration"),
    action("continue_to_password_registration"),
    action("skip"),
    action("back"),
  ]),
  onboarding_create_passkey: state("onboarding_create_passkey", [
    action("webauthn_generate_creation_options"),
    action("skip"),
    action("back"),
  ]),
  onboarding_verify_passkey_attestation: state(
    "onboarding_verify_passkey_attestation",
    [action("webauthn_verify_attestation_response", [input("public_key", "json")]), action("back")],
    { payload: { creation_options: creationOptions } },
  ),
  onboarding_verify_passkey_attestation_refused: state(
    "onboarding_verify_passkey_attestation",
    [action("webauthn_verify_attestation_response", [input("public_key", "json")]), action("back")],
    {
      status: 401,
      payload: { creation_options: creationOptions },
      error: { code: "passkey_invalid", message: "This passkey could not be verified." },
    },
  ),
  registration_init: state("registration_init", [
    action("register_login_identifier", [email(), username({ required: false })]),
    action("remember_me", [input("remember_me", "boolean", { value: true })]),
  ]),
  registration_init_closed: state("registration_init", []),
  success: state("success", [], {
    csrf_token: "",
    payload: {
      user: {
        id: "0d3f9c1e-8f8e-4a55-9b8e-3a8a36d0b9a1",
        emails: [
          { id: "1", address: "old@example.org", is_primary: false, is_verified: true },
          { id: "2", address: "ada@example.org", is_primary: true, is_verified: true },
        ],
      },
      claims: { subject: "0d3f9c1e-8f8e-4a55-9b8e-3a8a36d0b9a1", expiration: "2030-01-01T00:00:00Z" },
      last_login: { login_method: "passkey" },
    },
  }),
  error_403: refusal(403, "operation_not_permitted_error", "This operation is not permitted."),
  error_410: refusal(410, "flow_expired_error", "This flow has expired. Start again."),
  error_500: refusal(500, "technical_error", "Something went wrong on our side."),
  unknown: state(
    "verify_home_address",
    [
      action(
        "confirm_home_address",
        [
          input("street_name", "string", { value: "Mill Lane" }),
          input("house_number", "number"),
          input("country", "string", {
            allowed_values: [
              { name: "Ireland", value: "ie" },
              { name: "Portugal", value: "pt" },
            ],
          }),
          input("newsletter", "boolean", { required: false }),
          input("opening_hours", "json", { required: false }),
          input("trace", "string", { hidden: true, value: "t-1" }),
        ],
        "Tells us where you live.",
      ),
      action("choose_day", [
        input("day", "string", {
          allowed_values: [
            { name: "Monday", value: 1 },
            { name: "Tuesday", value: 2 },
          ],
        }),
      ]),
      action("call_me", [], "We ring you instead."),
      action("back"),
    ],
    {
      status: 409,
      payload: { otp_secret: "JBSWY3DPEHPK3PXP", phase_of_the_moon: "waxing" },
      error: { code: "address_disputed", message: "Somebody else claims to live there." },
      links: [{ name: "Privacy", href: "https://example.org/privacy", category: "legal", target: "_blank" }],
    },
  ),
} satisfies Record<string, FlowState>;

export type StateFixture = keyof typeof states;

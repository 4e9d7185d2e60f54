import type { StateName } from "#server/flow/names";
import type { ActionDescriptor, FlowError, FlowState, InputDescriptor } from "#server/flow/wire";

/**
 * States as the server sends them: each state of the flow, and its variants, named `<state>_<variant>`. A state without
 * an entry does not compile; an action that no entry shows fails `gallery.test.ts`.
 */

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

/** The state, with one more action at its end. */
function withAction(before: FlowState, added: ActionDescriptor): FlowState {
  return { ...before, actions: { ...before.actions, [added.action]: added } };
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

const securityKeyRequest = {
  publicKey: {
    ...requestOptions.publicKey,
    userVerification: "discouraged",
    allowCredentials: [{ type: "public-key", id: "a2V5", transports: ["usb"] }],
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

const securityKeyCreation = {
  publicKey: {
    ...creationOptions.publicKey,
    authenticatorSelection: {
      requireResidentKey: false,
      residentKey: "discouraged",
      userVerification: "discouraged",
      authenticatorAttachment: "cross-platform",
    },
  },
};

const invalid: FlowError = { code: "form_data_invalid_error", message: "The request is not valid." };

const email = (more: Partial<InputDescriptor> = {}) =>
  input("email", "email", { min_length: 3, max_length: 120, ...more });
const newPassword = () => input("new_password", "password", { min_length: 8, max_length: 256 });
const code = (more: Partial<InputDescriptor> = {}) =>
  input("code", "string", { min_length: 6, max_length: 6, ...more });
const otpCode = (more: Partial<InputDescriptor> = {}) =>
  input("otp_code", "string", { min_length: 6, max_length: 6, ...more });
const hidden = (name: string, more: Partial<InputDescriptor> = {}) =>
  input(name, "string", { hidden: true, ...more });
const verifier = () => hidden("code_verifier", { required: false });
const providers = {
  google: { name: "Google", value: "google" },
  github: { name: "GitHub", value: "github" },
  acme: { name: "Acme Works", value: "custom_acme" },
};
const oauth = (name: string, offered: (keyof typeof providers)[]) =>
  action(name, [
    hidden("redirect_to"),
    hidden("provider", { allowed_values: offered.map((provider) => providers[provider]) }),
    verifier(),
  ]);
const exchangeToken = () => action("exchange_token", [hidden("token"), verifier()]);
const recoveryCode = () => action("recovery_code_validate", [input("recovery_code", "string")]);
const username = (more: Partial<InputDescriptor> = {}) =>
  input("username", "string", { min_length: 3, max_length: 32, ...more });
const endOtherSessions = () => input("end_other_sessions", "boolean", { required: false });
const takenUsername = () =>
  username({
    value: "ada",
    error: { code: "username_already_exists", message: "This username is taken." },
  });

const otherWays = () => action("continue_to_login_method_chooser");

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

const passcodeConfirmation = (
  more: Partial<FlowState> = {},
  fault?: FlowError,
  field: Partial<InputDescriptor> = {},
) =>
  state(
    "passcode_confirmation",
    [
      action("verify_passcode", [code(fault ? { error: fault } : field)]),
      action("resend_passcode"),
      action("back"),
    ],
    more,
  );

const phone = (more: Partial<InputDescriptor> = {}) =>
  input("phone", "tel", { min_length: 3, max_length: 64, ...more });

const phoneConfirmation = (more: Partial<FlowState> = {}, fault?: FlowError) =>
  state(
    "phone_confirmation",
    [
      action("verify_passcode", [code(fault ? { error: fault } : {})]),
      action("resend_passcode"),
      action("back"),
    ],
    { ...more, payload: { code_lifetime: 300, ...more.payload } },
  );

const loginSms = (more: Partial<FlowState> = {}, fault?: FlowError) =>
  state(
    "login_sms",
    [
      action("verify_passcode", [code(fault ? { error: fault } : {})]),
      action("resend_passcode"),
      recoveryCode(),
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

/** One pixel. */
const picture =
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";

const loginOtp = (more: Partial<FlowState> = {}, fault?: FlowError) =>
  state(
    "login_otp",
    [
      action("otp_code_validate", [otpCode(fault ? { error: fault } : {})]),
      action("continue_to_login_security_key"),
      recoveryCode(),
      action("back"),
    ],
    more,
  );

const loginAuthenticator = (more: Partial<FlowState> = {}) =>
  state(
    "login_authenticator",
    [
      action("authenticator_verify"),
      action("continue_to_login_otp"),
      action("continue_to_login_security_key"),
      recoveryCode(),
      action("back"),
    ],
    {
      payload: {
        request_id: "Zt5Qp0aW3kXbR8sVnM1cLd7eYf2gHj4iUo6PzTqAeBwC",
        valid_until: "2026-11-20T08:02:00Z",
        qr_image_source: picture,
        events_href: "/authenticator/v1/uaf/requests/Zt5Qp0aW3kXbR8sV/events?token=dmlldw",
      },
      ...more,
    },
  );

const ada = {
  id: "0d3f9c1e-8f8e-4a55-9b8e-3a8a36d0b9a1",
  user_id: "0d3f9c1e-8f8e-4a55-9b8e-3a8a36d0b9a1",
  emails: [
    { id: "e2", address: "ada@example.org", is_primary: true, is_verified: true },
    { id: "e1", address: "old@example.org", is_primary: false, is_verified: false },
    { id: "e3", address: "third@example.org", is_primary: false, is_verified: true },
  ],
  username: {
    id: "u1",
    username: "ada",
    created_at: "2026-01-02T03:04:05Z",
    updated_at: "2026-01-02T03:04:05Z",
  },
  mfa_config: { auth_app_set_up: true, totp_enabled: true, security_keys_enabled: true },
};

const passkey = (id: string, more: Record<string, unknown>) => ({
  id,
  public_key: "pQECAyYgASFYIA",
  attestation_type: "none",
  aaguid: "00000000-0000-0000-0000-000000000000",
  created_at: "2026-03-04T05:06:07Z",
  transports: ["internal"],
  backup_eligible: true,
  backup_state: true,
  mfa_only: false,
  ...more,
});

const profilePayload = {
  recovery_codes_left: 7,
  metadata_editor: true,
  credential_uses: {
    cGsx: { authenticator: "iCloud Keychain", user_agent: "iOS (Safari)", ip_address: "192.0.2.x" },
    cGsy: { authenticator: "Windows Hello" },
    cGsz: { authenticator: "Windows Hello" },
  },
  phones: [
    {
      id: "p1",
      name: "Ada's Pixel",
      model: "Google Pixel 9",
      created_at: "2026-05-06T08:00:00Z",
      last_used_at: "2026-11-17T08:00:00Z",
    },
  ],
  trusted_browsers: [
    {
      id: "b1",
      user_agent: "Windows (Firefox)",
      ip_address: "198.51.100.x",
      last_used_at: "2026-11-16T08:00:00Z",
      expires_at: "2026-12-16T08:00:00Z",
    },
  ],
  sign_ins: [
    {
      id: "l3",
      at: "2026-11-19T08:00:00Z",
      user_agent: "Linux (Chrome)",
      ip_address: "203.0.113.x",
      outcome: "success",
      methods: ["password", "totp"],
      location: { country: "Germany", region: "Bavaria" },
    },
    {
      id: "l2",
      at: "2026-11-18T08:00:00Z",
      user_agent: "Windows (Edge)",
      ip_address: "2001:db8:1:…",
      outcome: "failure",
      methods: ["passcode"],
    },
    { id: "l1", at: "2026-11-01T08:00:00Z" },
  ],
  picture_path: "/users/pictures/p1",
  user: {
    ...ada,
    name: "Ada Lovelace",
    picture: "https://login.example/users/pictures/p1",
    given_name: "Ada",
    passkeys: [
      passkey("cGsx", { name: "Ada's iPhone", last_used_at: "2026-10-11T12:13:14Z" }),
      passkey("cGsy", { backup_state: false }),
      passkey("cGsz", { backup_state: false }),
    ],
    security_keys: [passkey("c2sx", { name: "YubiKey 5", mfa_only: true, backup_state: false })],
    identities: [{ id: "4711", provider: "GitHub", identity_id: "i1" }],
  },
  session_locations: { s1: { country: "Germany", region: "Berlin", city: "Berlin" } },
  sessions: [
    {
      id: "s1",
      user_agent: "macOS (Safari)",
      ip_address: "192.0.2.7",
      current: true,
      created_at: "2026-11-19T08:00:00Z",
      last_used: "2026-11-20T08:00:00Z",
    },
    {
      id: "s2",
      user_agent: "Android (Chrome)",
      user_agent_raw:
        "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36",
      current: false,
      created_by_administrator: true,
      created_at: "2026-11-01T08:00:00Z",
      last_used: "2026-11-18T08:00:00Z",
    },
  ],
};

/** Every action that a profile can offer. */
const profile = (more: Partial<FlowState> = {}, fault: { email?: FlowError; name?: FlowError } = {}) =>
  state(
    "profile_init",
    [
      action("account_delete"),
      action("name_update", [
        input("name", "string", { required: false, max_length: 255, value: null }),
        input("given_name", "string", { required: false, max_length: 255, value: null }),
        input("family_name", "string", { required: false, max_length: 255, value: null }),
      ]),
      action("picture_update", [input("picture", "string", { max_length: 32_768 })]),
      action("picture_delete"),
      action("authenticator_delete", [hidden("authenticator_id"), endOtherSessions()]),
      action("trusted_device_delete", [hidden("trusted_device_id")]),
      oauth("connect_thirdparty_oauth_provider", ["google", "acme"]),
      action("disconnect_thirdparty_oauth_provider", [
        hidden("identity_id", { allowed_values: [{ name: "GitHub", value: "i1" }] }),
      ]),
      action("otp_secret_delete"),
      action("security_key_create"),
      action("security_key_delete", [hidden("security_key_id")]),
      action("webauthn_credential_create"),
      action("webauthn_credential_rename", [
        hidden("passkey_id"),
        input("passkey_name", "string", {
          min_length: 1,
          max_length: 64,
          value: null,
          ...(fault.name ? { error: fault.name } : {}),
        }),
      ]),
      action("webauthn_credential_delete", [hidden("passkey_id")]),
      action("email_create", [email(fault.email ? { value: "ada@", error: fault.email } : {})]),
      action("email_delete", [
        hidden("email_id", { allowed_values: [{ name: "old@example.org", value: "e1" }] }),
      ]),
      action("email_set_primary", [hidden("email_id")]),
      action("email_verify", [hidden("email_id")]),
      action("password_update", [
        input("password", "password", { min_length: 8, max_length: 256 }),
        endOtherSessions(),
      ]),
      action("password_delete", [endOtherSessions()]),
      action("username_update", [username({ value: "ada" })]),
      action("username_delete"),
      action("phone_set", [phone()]),
      action("phone_delete"),
      action("patch_metadata", [input("patch_metadata", "json")]),
      action("session_delete", [hidden("session_id", { allowed_values: [{ name: "s2", value: "s2" }] })]),
      action("session_delete_others"),
      action("recovery_codes_create"),
    ],
    {
      payload: profilePayload,
      ...more,
    },
  );

const recoveryCodes = [
  "AB3D-EF5H-JK7M-NP9R",
  "ST2V-WX4Z-BC4D-FG6H",
  "JK8L-MN2P-QR4S-TV6W",
  "XY3Z-AB5C-DE7F-GH9J",
];

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
  login_passkey_used_last: state(
    "login_passkey",
    [
      action("webauthn_verify_assertion_response", [input("assertion_response", "json")]),
      otherWays(),
      action("back"),
    ],
    { payload: { request_options: requestOptions } },
  ),
  login_passkey_refused: state(
    "login_passkey",
    [action("webauthn_verify_assertion_response", [input("assertion_response", "json")]), action("back")],
    { status: 401, error: { code: "passkey_invalid", message: "This passkey could not be verified." } },
  ),
  login_method_chooser: state("login_method_chooser", [
    action("continue_to_password_login"),
    action("continue_to_passcode_confirmation"),
    action("webauthn_generate_request_options"),
    action("back"),
  ]),
  login_method_chooser_proof: state(
    "login_method_chooser",
    [
      action("continue_to_password_login"),
      action("continue_to_passcode_confirmation"),
      action("continue_to_phone_confirmation"),
      oauth("thirdparty_oauth", ["github"]),
      action("back"),
    ],
    { payload: { wanted_action: "password_update" } },
  ),
  login_password: passwordLogin(),
  login_password_proof: passwordLogin({ payload: { wanted_action: "account_delete" } }),
  login_password_used_last: withAction(passwordLogin(), otherWays()),
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
  passcode_confirmation_used_last: withAction(passcodeConfirmation(), otherWays()),
  passcode_confirmation_alphanumeric: passcodeConfirmation({}, undefined, { charset: "alphanumeric" }),
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
  phone_confirmation: phoneConfirmation({ payload: { identifier: "+4915112345678" } }),
  phone_confirmation_used_last: withAction(phoneConfirmation(), otherWays()),
  phone_confirmation_wrong: phoneConfirmation(
    { status: 400, error: invalid },
    { code: "passcode_invalid", message: "This code is not right." },
  ),
  phone_confirmation_too_fast: phoneConfirmation({
    status: 429,
    payload: { resend_after: 42, retry_after: 42 },
    error: { code: "rate_limit_exceeded", message: "Too many requests." },
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
  onboarding_email_no_address: state(
    "onboarding_email",
    [action("email_address_set", [email({ required: false })])],
    { payload: { provider_gave_no_address: true } },
  ),
  onboarding_username: state(
    "onboarding_username",
    [
      action("username_set", [takenUsername()]),
      { ...action("username_create", [takenUsername()]), alias_of: "username_set" },
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
      error: { code: "passkey_invalid", message: "This passkey could not be verified." },
    },
  ),
  registration_init: state("registration_init", [
    action("register_login_identifier", [email(), username({ required: false })]),
    action("remember_me", [input("remember_me", "boolean", { value: true })]),
  ]),
  registration_init_with_providers: state("registration_init", [
    action("register_login_identifier", [email()]),
    oauth("thirdparty_oauth", ["google", "github", "acme"]),
  ]),
  registration_init_closed: state("registration_init", []),
  login_init_with_a_provider: state(
    "login_init",
    [
      action("continue_with_login_identifier", [email()]),
      action("webauthn_generate_request_options"),
      oauth("thirdparty_oauth", ["acme"]),
      action("remember_me", [input("remember_me", "boolean")]),
    ],
    {},
  ),
  login_init_with_providers: state("login_init", [
    action("continue_with_login_identifier", [email()]),
    oauth("thirdparty_oauth", ["google", "github", "acme"]),
  ]),
  thirdparty: state("thirdparty", [exchangeToken(), action("back")], {
    payload: { redirect_url: "https://accounts.example/authorize?state=1" },
  }),
  thirdparty_rejected: state("thirdparty", [exchangeToken(), action("back")], {
    status: 400,
    payload: {
      taken_address: "ada@example.org",
      redirect_url: "https://login.example/?error=user_conflict",
    },
    error: { code: "user_conflict", message: "An account with this email address exists." },
  }),
  thirdparty_no_new_accounts: state("thirdparty", [exchangeToken(), action("back")], {
    status: 400,
    payload: { redirect_url: "https://login.example/?error=signup_disabled" },
    error: { code: "signup_disabled", message: "New accounts are not allowed." },
  }),
  thirdparty_idp_initiated: state("thirdparty", [exchangeToken()]),
  login_otp: loginOtp(),
  login_otp_with_an_authenticator: withAction(loginOtp(), action("continue_to_login_authenticator")),
  login_otp_wrong: loginOtp(
    { status: 400, error: invalid },
    { code: "otp_code_invalid", message: "This code is not right." },
  ),
  login_otp_recovery_code_wrong: state(
    "login_otp",
    [
      action("otp_code_validate", [otpCode()]),
      action("recovery_code_validate", [
        input("recovery_code", "string", {
          error: { code: "recovery_code_invalid", message: "This recovery code is not right." },
        }),
      ]),
    ],
    { status: 400, error: invalid },
  ),
  login_security_key: state("login_security_key", [
    action("webauthn_generate_request_options"),
    action("continue_to_login_otp"),
    recoveryCode(),
    action("back"),
  ]),
  login_security_key_with_an_authenticator: state("login_security_key", [
    action("webauthn_generate_request_options"),
    action("continue_to_login_authenticator"),
    recoveryCode(),
    action("back"),
  ]),
  login_authenticator: loginAuthenticator(),
  login_authenticator_declined: loginAuthenticator({
    status: 401,
    error: { code: "authenticator_request_failed", message: "The authenticator did not confirm." },
  }),
  login_authenticator_too_many: loginAuthenticator({
    status: 429,
    payload: { resend_after: 42, retry_after: 42 },
    error: { code: "rate_limit_exceeded", message: "Too many requests." },
  }),
  login_sms: loginSms(),
  login_sms_wrong: loginSms(
    { status: 400, error: invalid },
    { code: "passcode_invalid", message: "This code is not right." },
  ),
  login_sms_proof: withAction(loginSms({ payload: { wanted_action: "account_delete" } }), action("back")),
  login_sms_with_an_app_since: withAction(
    withAction(
      withAction(loginSms(), action("continue_to_login_otp")),
      action("continue_to_login_security_key"),
    ),
    action("continue_to_login_authenticator"),
  ),
  login_passkey_as_second_factor: state(
    "login_passkey",
    [action("webauthn_verify_assertion_response", [input("assertion_response", "json")]), action("back")],
    { payload: { request_options: securityKeyRequest } },
  ),
  mfa_method_chooser: state("mfa_method_chooser", [
    action("continue_to_otp_secret_creation"),
    action("continue_to_security_key_creation"),
    action("continue_to_phone_creation"),
    action("skip"),
    action("back"),
  ]),
  mfa_otp_secret_creation: state(
    "mfa_otp_secret_creation",
    [action("otp_code_verify", [otpCode()]), action("back")],
    {
      payload: {
        otp_image_source: picture,
        otp_secret: "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP",
      },
    },
  ),
  mfa_security_key_creation: state("mfa_security_key_creation", [
    action("webauthn_generate_creation_options"),
    action("back"),
  ]),
  mfa_phone_creation: state("mfa_phone_creation", [action("phone_set", [phone()]), action("back")]),
  mfa_phone_creation_not_allowed: state(
    "mfa_phone_creation",
    [
      action("phone_set", [
        phone({
          value: "+44 7911 123456",
          error: { code: "phone_number_not_allowed", message: "This number cannot receive codes." },
        }),
      ]),
      action("back"),
    ],
    { status: 400, error: invalid },
  ),
  onboarding_create_passkey_conditional: state("onboarding_create_passkey", [
    action("webauthn_generate_creation_options", [
      input("conditional", "boolean", { hidden: true, required: false }),
    ]),
    action("skip"),
  ]),
  onboarding_verify_security_key_attestation: state(
    "onboarding_verify_passkey_attestation",
    [action("webauthn_verify_attestation_response", [input("public_key", "json")]), action("back")],
    { payload: { creation_options: securityKeyCreation } },
  ),
  device_trust: state("device_trust", [action("trust_device"), action("skip"), action("back")]),
  profile_init: profile(),
  profile_init_wrong_email: profile(
    { status: 400, error: invalid },
    { email: { code: "value_invalid_error", message: "The value is not valid." } },
  ),
  profile_init_wrong_name: profile(
    { status: 400, error: invalid },
    { name: { code: "value_missing_error", message: "A value is required." } },
  ),
  profile_init_not_found: profile({
    status: 404,
    error: { code: "not_found", message: "There is no such item." },
  }),
  profile_init_bare: state(
    "profile_init",
    [
      action("password_create", [input("password", "password", { min_length: 8, max_length: 256 })]),
      action("username_create", [username()]),
      action("continue_to_otp_secret_creation"),
      action("webauthn_credential_create"),
      action("email_create", [email()]),
    ],
    { payload: { user: { id: ada.id, mfa_config: { auth_app_set_up: false } } } },
  ),
  profile_init_of_another_version: withAction(
    profile(),
    action("send_postcard", [input("country", "string")], "Sends you a postcard."),
  ),
  profile_init_with_codes: profile({
    payload: { ...profilePayload, recovery_codes: recoveryCodes },
  }),
  webauthn_credential_verification: state(
    "webauthn_credential_verification",
    [action("webauthn_verify_attestation_response", [input("public_key", "json")]), action("back")],
    { payload: { creation_options: creationOptions } },
  ),
  account_deleted: state("account_deleted", [], { csrf_token: "" }),
  success_with_codes: state("success", [], {
    csrf_token: "",
    payload: { user: ada, recovery_codes: recoveryCodes },
  }),
  error_401: refusal(401, "unauthorized", "Sign in first."),
  login_passkey_unknown: state(
    "login_passkey",
    [action("webauthn_verify_assertion_response", [input("assertion_response", "json")]), action("back")],
    {
      status: 401,
      payload: {
        request_options: requestOptions,
        unknown_credential: { rp_id: "localhost", credential_id: "Zm9yZ290dGVu" },
      },
      error: { code: "passkey_invalid", message: "This passkey could not be verified." },
    },
  ),
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
  error_429: {
    ...refusal(429, "rate_limit_exceeded", "Too many requests. Try again later."),
    payload: { resend_after: 42, retry_after: 42 },
  },
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
      error: { code: "address_disputed", message: "This address is disputed." },
      links: [{ name: "Privacy", href: "https://example.org/privacy", category: "legal", target: "_blank" }],
    },
  ),
} satisfies Record<StateName, FlowState> & Record<string, FlowState>;

export type DrawnState = keyof typeof states;

/**
 * The texts of the flow and account pages, as data without functions, because the server hands them to the browser.
 * `{name}` in a text is a placeholder.
 */
export interface FlowWords {
  states: Record<WordedState, StateWords>;
  actions: Record<WordedAction, ActionWords>;
  inputs: Record<WordedInput, InputWords>;
  errors: Record<WordedError, string>;
  sections: Record<WordedSection, SectionWords>;
  page: PageWords;
}

export interface StateWords {
  title: string;
  sentence?: string;
  /** Instead of `sentence` when it is known whom this is about; has the gap `{subject}`. */
  sentenceAbout?: string;
  /** There is nothing more to do, and all is well. */
  end?: true;
  /** Where to go from the end, when nobody waits elsewhere. */
  leads?: "account" | "sign_in";
  /** Invites to the other flow. */
  other?: { flow: "login" | "registration"; question: string; label: string };
  /** Actions and errors that mean something more particular here. */
  actions?: Partial<Record<WordedAction, ActionWords>>;
  errors?: Partial<Record<WordedError, string>>;
  /** What is said instead under circumstances; see `variants.ts`. */
  variants?: Partial<Record<Variant, Omit<StateWords, "variants">>>;
}

/**
 * `signed_in`: whoever is signed in has to prove it once more. `signed_out`: whoever has to be signed in is not.
 * `security_key`: it is about a second factor, not about a passkey. `waits`: what it would show is to be had in a while.
 */
export type Variant = "signed_in" | "signed_out" | "security_key" | "waits";

export interface ActionWords {
  label: string;
  /** Small print of the action; shown where there is room for it. */
  hint?: string;
  /** The label while the action has to wait; has the gap `{time}`. */
  waiting?: string;
  /** What to tell when it was performed and the same state is on show as before. */
  done?: string;
  /** What to know before it is done; asked where something is lost by it. */
  confirm?: string;
  /** The label of its last click, where that needs to say more than `label`. */
  submit?: string;
}

export interface InputWords {
  label: string;
  /** Shown under the field; may have the gaps `{min}` and `{max}`. */
  hint?: string;
  /** What an error code means on this input, where the general text would be too general. */
  errors?: Partial<Record<WordedError, string>>;
}

export interface SectionWords {
  title: string;
  sentence?: string;
  /** In place of a list that has nothing in it. */
  empty?: string;
}

export interface PageWords {
  optional: string;
  or: string;
  showPassword: string;
  hidePassword: string;
  apply: string;
  choose: string;
  startAgain: string;
  tryAgain: string;
  tryAgainIn: string;
  waitFor: string;
  signedInAs: string;
  returning: string;
  nothingToDo: string;
  languages: string;
  working: string;
  secret: string;
  qrCode: string;
  waitingForPhone: string;
  troubleTitle: string;
  reload: string;
  notFoundTitle: string;
  notFoundSentence: string;
  toSignIn: string;
  toAccount: string;
  signIn: string;
  signOut: string;
  /** Has the gap `{host}`. */
  continueAt: string;
  /** Has the gap `{provider}`. */
  continueWith: string;
  connectWith: string;
  copy: string;
  copied: string;
  download: string;
  print: string;
  recoveryCodes: string;
  recoveryCodesSentence: string;
  recoveryCodesFile: string;
  saved: string;
  confirm: string;
  /** Badges and facts of the things in an account; `{date}` and `{address}` are gaps. */
  primary: string;
  unconfirmed: string;
  thisDevice: string;
  synced: string;
  added: string;
  lastUsed: string;
  signedInSince: string;
  passkey: string;
  securityKey: string;
  session: string;
  identity: string;
  password: string;
  passwordSet: string;
  passwordMissing: string;
  username: string;
  usernameMissing: string;
  authenticatorApp: string;
  appSet: string;
  appMissing: string;
  recoveryCodesRow: string;
  recoveryCodesHint: string;
}

export type WordedState =
  | "preflight"
  | "login_init"
  | "login_passkey"
  | "login_method_chooser"
  | "login_password"
  | "login_password_recovery"
  | "passcode_confirmation"
  | "password_creation"
  | "onboarding_email"
  | "onboarding_username"
  | "credential_onboarding_chooser"
  | "onboarding_create_passkey"
  | "onboarding_verify_passkey_attestation"
  | "registration_init"
  | "thirdparty"
  | "login_otp"
  | "login_security_key"
  | "login_authenticator"
  | "mfa_method_chooser"
  | "mfa_otp_secret_creation"
  | "mfa_security_key_creation"
  | "device_trust"
  | "profile_init"
  | "webauthn_credential_verification"
  | "account_deleted"
  | "success"
  | "error";

export type WordedAction =
  | "register_client_capabilities"
  | "continue_with_login_identifier"
  | "register_login_identifier"
  | "webauthn_generate_request_options"
  | "webauthn_generate_creation_options"
  | "remember_me"
  | "continue_to_password_login"
  | "continue_to_passcode_confirmation"
  | "continue_to_passcode_confirmation_recovery"
  | "continue_to_passkey_registration"
  | "continue_to_password_registration"
  | "password_login"
  | "password_recovery"
  | "register_password"
  | "verify_passcode"
  | "resend_passcode"
  | "email_address_set"
  | "username_set"
  | "skip"
  | "back"
  // Other ways in, and second factors.
  | "thirdparty_oauth"
  | "exchange_token"
  | "otp_code_validate"
  | "otp_code_verify"
  | "recovery_code_validate"
  | "continue_to_login_otp"
  | "continue_to_login_security_key"
  | "continue_to_login_authenticator"
  | "authenticator_verify"
  | "continue_to_otp_secret_creation"
  | "continue_to_security_key_creation"
  | "trust_device"
  // What people do with their account.
  | "account_delete"
  | "connect_thirdparty_oauth_provider"
  | "disconnect_thirdparty_oauth_provider"
  | "email_create"
  | "email_delete"
  | "email_set_primary"
  | "email_verify"
  | "otp_secret_delete"
  | "password_create"
  | "password_delete"
  | "password_update"
  | "patch_metadata"
  | "recovery_codes_create"
  | "security_key_create"
  | "security_key_delete"
  | "session_delete"
  | "session_delete_others"
  | "username_create"
  | "username_delete"
  | "username_update"
  | "webauthn_credential_create"
  | "webauthn_credential_delete"
  | "webauthn_credential_rename";

export type WordedInput =
  | "identifier"
  | "email"
  | "username"
  | "password"
  | "new_password"
  | "code"
  | "remember_me"
  | "provider"
  | "otp_code"
  | "recovery_code"
  | "passkey_name"
  | "patch_metadata";

/** Parts of the account page; see `account-sections.ts`. */
export type WordedSection =
  | "emails"
  | "sign_in"
  | "passkeys"
  | "second_step"
  | "identities"
  | "sessions"
  | "more"
  | "leave";

export type WordedError =
  | "form_data_invalid_error"
  | "value_missing_error"
  | "value_invalid_error"
  | "value_too_short_error"
  | "value_too_long_error"
  | "email_already_exists"
  | "username_already_exists"
  | "unknown_email_error"
  | "unknown_username_error"
  | "invalid_username_error"
  | "passcode_invalid"
  | "passcode_max_attempts_reached"
  | "passkey_invalid"
  | "webauthn_credential_invalid_mfa_only"
  | "operation_not_permitted_error"
  | "flow_discontinuity_error"
  | "flow_expired_error"
  | "rate_limit_exceeded"
  | "technical_error"
  | "unauthorized"
  | "forbidden"
  | "not_found"
  | "platform_authenticator_required"
  | "user_conflict"
  | "signup_disabled"
  | "third_party_access_denied"
  | "identity_already_linked"
  | "otp_code_invalid"
  | "otp_code_already_used"
  | "recovery_code_invalid"
  | "authenticator_request_pending"
  | "authenticator_request_failed"
  | "authenticator_request_expired"
  | "invalid_metadata_error"
  // What only a browser notices.
  | "webauthn_credential_already_exists"
  | "passkey_cancelled"
  | "passkey_failed"
  | "connection_lost"
  | "connection_missing"
  | "connection_back"
  | "page_out_of_date"
  | "page_renewed"
  | "proved_again"
  | "not_json"
  // What an identity provider, or the way back from one, may answer.
  | "third_party_failed"
  | "multiple_accounts"
  | "unverified_email"
  | "email_maxnum";

/**
 * Everything the page says, as data: no functions, so that the server can hand one language to the browser.
 * `{name}` in a text is a gap that `fill` closes.
 */
export interface Words {
  /** BCP 47 tag, for `lang` and for the mails that are sent meanwhile. */
  language: string;
  /** What the language calls itself. */
  languageName: string;
  states: Record<WordedState, StateWords>;
  actions: Record<WordedAction, ActionWords>;
  inputs: Record<WordedInput, InputWords>;
  errors: Record<WordedError, string>;
  page: PageWords;
}

export interface StateWords {
  title: string;
  sentence?: string;
  /** Instead of `sentence` when it is known whom this is about; has the gap `{subject}`. */
  sentenceAbout?: string;
  /** There is nothing more to do, and all is well. */
  end?: true;
  /** Invites to the other flow. */
  other?: { flow: "login" | "registration"; question: string; label: string };
}

export interface ActionWords {
  label: string;
  /** Small print of the action; shown where there is room for it. */
  hint?: string;
  /** The label while the action has to wait; has the gap `{time}`. */
  waiting?: string;
  /** What to tell when it was performed and the same state is on show as before. */
  done?: string;
}

export interface InputWords {
  label: string;
  /** Shown under the field; may have the gaps `{min}` and `{max}`. */
  hint?: string;
  /** What an error code means on this input, where the general text would be too general. */
  errors?: Partial<Record<WordedError, string>>;
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
  troubleTitle: string;
  reload: string;
  notFoundTitle: string;
  notFoundSentence: string;
  toSignIn: string;
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
  | "back";

export type WordedInput =
  | "identifier"
  | "email"
  | "username"
  | "password"
  | "new_password"
  | "code"
  | "remember_me";

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
  // What only a browser notices.
  | "webauthn_credential_already_exists"
  | "passkey_cancelled"
  | "passkey_failed"
  | "connection_lost"
  | "connection_missing"
  | "connection_back"
  | "page_out_of_date"
  | "page_renewed"
  | "not_json";

/** Closes the gaps of a text. A gap without a value stays empty. */
export function fill(text: string, values: Record<string, string | number | undefined>): string {
  return text.replace(/\{(\w+)\}/g, (_, name: string) => String(values[name] ?? ""));
}

/** What a name says to a reader when no words are known for it: `confirm_home_address` is "Confirm home address". */
export function readable(name: string): string {
  const spaced = name.replace(/[_-]+/g, " ").trim();
  return spaced.charAt(0).toUpperCase() + spaced.slice(1);
}

export function stateWords(words: Words, name: string): StateWords {
  return entry<StateWords>(words.states, name) ?? { title: readable(name) };
}

/** Words of an action; for an unknown one those the server describes it with. */
export function actionWords(words: Words, name: string, description: string): ActionWords {
  const known = entry<ActionWords>(words.actions, name);
  if (known) return known;
  return description ? { label: readable(name), hint: description } : { label: readable(name) };
}

export function inputWords(words: Words, name: string): InputWords {
  return entry<InputWords>(words.inputs, name) ?? { label: readable(name) };
}

/** The text for an error, most particular first: for this input, for this code, the server's own message. */
export function errorText(
  words: Words,
  error: { code: string; message?: string },
  input?: { name: string; min_length?: number; max_length?: number },
): string {
  const particular = input && entry<string>(inputWords(words, input.name).errors ?? {}, error.code);
  const text = particular ?? entry<string>(words.errors, error.code);
  if (text === undefined) return error.message || readable(error.code);
  return fill(text, { min: input?.min_length, max: input?.max_length });
}

function entry<Value>(table: Partial<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}

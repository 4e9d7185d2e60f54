import type {
  AccountAction,
  AccountInput,
  ActionName,
  ErrorCode,
  InputName,
  StateName,
} from "#server/flow/protocol-names";

/**
 * The texts of the flow and account pages. They are data without functions because the server sends them to the
 * browser. `{name}` in a text is a placeholder.
 */
export interface FlowWords {
  states: Record<WordedState, StateWords>;
  actions: Record<WordedAction, ActionWords>;
  /** What follows a re-authentication, by the action that requires it. */
  afterProof: Partial<Record<WordedAction, string>>;
  inputs: Record<WordedInput, InputWords>;
  errors: Record<WordedError, string>;
  sections: Record<WordedSection, SectionWords>;
  /** Names of the links that the configuration may have. */
  links: Record<"terms" | "privacy" | "help", string>;
  /** What an application asks a user for. */
  authorization: AuthorizationTexts;
  /** What a new user accepts, beside these links; each has the placeholder `{link}`. */
  consent: Record<"terms" | "privacy", string>;
  page: PageWords;
}

/** The texts of the account page, and of what an application asks for, alone. Packages for applications load them with it, and a login without them. */
export interface AccountWords extends Pick<FlowWords, "afterProof" | "sections" | "authorization"> {
  states: Pick<FlowWords["states"], AccountState>;
  actions: Pick<FlowWords["actions"], PageAction>;
  inputs: Pick<FlowWords["inputs"], WordedAccountInput>;
  page: AccountTexts;
}

/** All texts but those of the account page. */
export interface SignInWords extends Pick<FlowWords, "errors" | "links" | "consent"> {
  states: Omit<FlowWords["states"], AccountState>;
  actions: Omit<FlowWords["actions"], PageAction>;
  inputs: Omit<FlowWords["inputs"], WordedAccountInput>;
  page: Omit<PageWords, keyof AccountTexts>;
}

export interface StateWords {
  title: string;
  /** May have the placeholder `{time}`, for how long a mailed code is valid. */
  sentence?: string;
  /** Replaces `sentence` when the page knows the address of a mail; has the placeholder `{subject}`. */
  sentenceWithSubject?: string;
  /** Small print below the actions. */
  note?: string;
  /** A final state that was reached with success. */
  end?: true;
  /** Where the page links from a final state without a redirect. */
  nextPage?: "account" | "sign_in";
  /** The link to the other flow. */
  other?: { flow: "login" | "registration"; question: string; label: string };
  /** Texts of actions and errors that replace the general ones in this state. */
  actions?: Partial<Record<WordedAction, ActionWords>>;
  errors?: Partial<Record<WordedError, string>>;
  /** Texts that replace the ones above under a condition; see `components/flow/variants.ts`. */
  variants?: Partial<Record<Variant, Partial<Omit<StateWords, "variants">>>>;
}

/**
 * `signed_in`: a signed-in user has to authenticate again. `signed_out`: the state requires a session and there is
 * none. `security_key`: the state is about a second factor, not about a passkey. `waits`: the content of the state is
 * available only after a wait. `no_address`: the identity provider of a new account gave no email address. `closed`: the
 * state offers nothing, because the feature is switched off. `rejected`: an identity provider's answer does not sign in;
 * `not_connected`: it is not connected to the account. `letters`: a code may have letters.
 * `device`: it is about a device without a browser.
 */
export type Variant =
  | "signed_in"
  | "signed_out"
  | "security_key"
  | "waits"
  | "no_address"
  | "closed"
  | "rejected"
  | "not_connected"
  | "letters"
  | "device";

export interface AuthorizationTexts {
  /** Before the list. Has the placeholder `{client}`. */
  asks: string;
  /** What goes on the list, by its scope. */
  scopes: Record<"openid" | "profile" | "email" | "phone" | "offline_access", string>;
  /** What an application would do at an API. Has the placeholders `{address}` and `{scopes}`. */
  resource: string;
  /** The same of one that has named no scope there. Has the placeholder `{address}`. */
  resourceAlone: string;
  /** Beside what the user has allowed earlier. */
  before: string;
  /** Has the placeholder `{host}`. */
  host: string;
  /** In place of it, where the application runs on the device. */
  device: string;
  /** Of a device that has no browser. Has the placeholder `{code}`. */
  remote: string;
  /** Where it is. Has the placeholder `{place}`. */
  place: string;
  /** What becomes of it after a sign-out. */
  stays: string;
  /** Of one that is described by a document. Has the placeholder `{host}`. */
  document: string;
  /** Of one that has registered itself. */
  registration: string;
  /** Has the placeholder `{time}`: days or hours. */
  lifetime: string;
}

export interface ActionWords {
  label: string;
  /** Small print, shown where there is room. */
  hint?: string;
  /** The label while the action has to wait; has the placeholder `{time}`. */
  waiting?: string;
  /** The confirmation shown when the action led back to the same state. */
  done?: string;
  /** The warning of an action that asks for confirmation because it deletes something. */
  confirm?: string;
  /** The label of the submit button, where it differs from `label`. */
  submit?: string;
}

export interface InputWords {
  label: string;
  /** Shown under the field; may have the placeholders `{min}` and `{max}`. Beside accounts, of the one that is signed in. */
  hint?: string;
  /** Texts of errors that replace the general ones on this input. */
  errors?: Partial<Record<WordedError, string>>;
}

export interface SectionWords {
  title: string;
  sentence?: string;
  /** Shown in place of an empty list. */
  empty?: string;
}

/** What the pages say that the server sends in place of a flow. Packages for applications have none of them. */
export interface MessageTexts {
  notFoundTitle: string;
  notFoundSentence: string;
  tooManyTitle: string;
  /** Has the placeholder `{time}`. */
  tooManySentence: string;
  badReturnTitle: string;
  badReturnSentence: string;
  /** The page that led here. Has the placeholder `{host}`. */
  backTo: string;
  /** Of an address that lacks something, or asks for something that is not accepted. */
  badLinkSentence: string;
  /** The page of the link in a mail, with a button. */
  linkTitle: string;
  /** In the browser that began. */
  linkSentence: string;
  linkContinue: string;
  /** In another one. */
  linkElsewhereSentence: string;
  linkShowCode: string;
  linkCodeTitle: string;
  linkCodeSentence: string;
  linkEndedTitle: string;
  linkEndedSentence: string;
  /** An application sends its user here to sign out; the page asks. */
  signOutTitle: string;
  signOutSentence: string;
  signOutButton: string;
  /** Before an operator acts as a user: {name} of the user, and the {time} in words. */
  actAsTitle: string;
  actAsSentence: string;
  /** The same where the browser has another session. */
  actAsInstead: string;
  actAsButton: string;
  actAsGoneTitle: string;
  actAsGoneSentence: string;
  /** Of the page that begins a test sign-in at an identity provider, which an operator of the console sees. */
  testTitle: string;
  testSentence: string;
  testButton: string;
  signedOutTitle: string;
  signedOutSentence: string;
  /** The browser goes on to the provider that the session was signed in at. */
  signedOutNext: string;
  /** The browser loads pages of applications, and goes on. */
  signedOutOfApplications: string;
}

/** What the account page alone says of its items. `{date}` and `{count}` are placeholders. */
export interface AccountTexts {
  signOut: string;
  connectWith: string;
  name: string;
  nameMissing: string;
  picture: string;
  pictureMissing: string;
  pictureShown: string;
  pictureElsewhere: string;
  phone: string;
  trustedUntil: string;
  /** Of an application. Has the placeholder `{date}`. */
  usedSince: string;
  application: string;
  recoveryCodesLeft: string;
  primary: string;
  unconfirmed: string;
  thisDevice: string;
  synced: string;
  added: string;
  lastUsed: string;
  signedInSince: string;
  passkey: string;
  mailedCode: string;
  smsCode: string;
  recoveryCode: string;
  /** Badge of a sign-in. */
  signInFailed: string;
  /** When a sign-in was tried that failed: {date}. */
  triedAt: string;
  /** Badge of a session. */
  byAdministrator: string;
  /** An operator acts as the user: {name} of the operator, {time} of the end, and the {reason}. */
  actedAs: string;
  /** Ends that. */
  endActing: string;
  /** Of a session: copies of its cookie are of no use on another device. */
  deviceBound: string;
  securityKey: string;
  session: string;
  identity: string;
  password: string;
  passwordSet: string;
  passwordMissing: string;
  username: string;
  usernameMissing: string;
  phoneNumber: string;
  phoneNumberMissing: string;
  authenticatorApp: string;
  appSet: string;
  appMissing: string;
  recoveryCodesRow: string;
  recoveryCodesHint: string;
}

export interface PageWords extends MessageTexts, AccountTexts {
  /** Read before the identifier of the account that a state is about. */
  account: string;
  useAnother: string;
  /** Read before the letters by which a user tells an operator of the flow. */
  supportNumber: string;
  /** Beside the error that an address has an account already. */
  signInInstead: string;
  waitingForBrowser: string;
  nothingHappens: string;
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
  waitingForAuthenticator: string;
  errorTitle: string;
  reload: string;
  toSignIn: string;
  toAccount: string;
  signIn: string;
  /** Has the placeholder `{host}`. */
  continueAt: string;
  /** Has the placeholder `{provider}`. */
  continueWith: string;
  copy: string;
  copied: string;
  download: string;
  print: string;
  recoveryCodes: string;
  recoveryCodesSentence: string;
  recoveryCodesFile: string;
  saved: string;
  confirm: string;
  /** Closes an opened form without performing its action. */
  cancel: string;
}

/** A state of the protocol, or the answer that shows an error and no state. */
export type WordedState = StateName | "error";

/** An action that a person performs. */
export type WordedAction = Without<
  ActionName,
  "webauthn_verify_assertion_response" | "webauthn_verify_attestation_response"
>;

/** An input that a person fills in. */
export type WordedInput = Without<
  InputName,
  | "application_id"
  | "assertion_response"
  | "authenticator_id"
  | "code_verifier"
  | "conditional"
  | "email_id"
  | "identity_id"
  | "passkey_id"
  | "public_key"
  | "question"
  | "redirect_to"
  | "security_key_id"
  | "session_id"
  | "token"
  | "trusted_device_id"
  | "webauthn_available"
  | "webauthn_conditional_mediation_available"
  | "webauthn_platform_authenticator_available"
>;

type AccountState =
  | "profile_init"
  | "account_deleted"
  | "account_choice"
  | "device_code"
  | "consent"
  | "consent_answered";

/** Actions of the account page, and those that pages of the service alone offer. */
type PageAction = AccountAction | "account_choose" | "account_other" | "account_forget";

type WordedAccountInput = Extract<WordedInput, AccountInput | "chosen_account" | "forgotten_account">;

/** Sections of the account page; see `components/flow/account-sections.ts`. */
export type WordedSection =
  | "name"
  | "emails"
  | "sign_in"
  | "passkeys"
  | "second_step"
  | "identities"
  | "applications"
  | "sessions"
  | "trusted_browsers"
  | "sign_ins"
  | "more"
  | "leave";

/** A code of the protocol, of the page itself, or of the return from an identity provider. */
export type WordedError = ErrorCode | PageNotice | ProviderError;

/** Codes that only the page in the browser gives. */
export type PageNotice =
  | "webauthn_credential_already_exists"
  | "passkey_cancelled"
  | "passkey_failed"
  | "connection_lost"
  | "connection_missing"
  | "origin_refused"
  | "connection_back"
  | "cookies_blocked"
  | "page_out_of_date"
  | "page_renewed"
  | "proved_again"
  | "not_json";

/** Codes of a return from an identity provider that are no codes of the protocol. */
export type ProviderError = "third_party_failed" | "multiple_accounts" | "unverified_email" | "email_maxnum";

type Without<All, Some extends All> = Exclude<All, Some>;

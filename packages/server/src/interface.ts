// Made by `npm run docs` from the document of the interface (`/openapi.json`). Change the declarations there.

export interface ChangeMailEventData {
  subject: string;
  body_plain: string;
  /** HTML. */
  body: string;
  to_email_address: string;
  /** Whether the service sends the mail too (`email_delivery.enabled`). If not, the receiver has to. */
  delivered_by_hanko: boolean;
  /** The same as `language`, for published receivers. */
  accept_language: string;
  language: Language;
  type: "security_notification";
  data: {
    service_name: string;
    /** The change that the mail reports. */
    template:
      | "email_create"
      | "email_delete"
      | "primary_email_update"
      | "mfa_create"
      | "mfa_delete"
      | "password_update"
      | "password_delete"
      | "passkey_create"
      | "passkey_delete"
      | "identity_create"
      | "recovery_code_use"
      | "phone_create"
      | "phone_delete"
      | "account_delete"
      | "new_browser"
      | "impersonation";
    new_email_address?: string | undefined;
    /** The primary one before `primary_email_update`. */
    old_email_address?: string | undefined;
    deleted_email_address?: string | undefined;
    /** When the sign-in of `new_browser` or `impersonation` was. */
    at?: string | undefined;
    /** How long the operator of `impersonation` acts as the user at most. */
    minutes?: number | undefined;
    /** Why the operator of `impersonation` acts as the user. */
    reason?: string | undefined;
    /** System and browser of the sign-in of `new_browser`. */
    browser?: string | undefined;
    /** Place of the sign-in of `new_browser`, if it is known. */
    place?: string | null | undefined;
    /** The second factor that was added or removed. */
    factor?: "totp" | "security_key" | "authenticator" | "recovery_codes" | undefined;
  };
}
export interface CodeMailEventData {
  subject: string;
  body_plain: string;
  /** HTML. */
  body: string;
  to_email_address: string;
  /** Whether the service sends the mail too (`email_delivery.enabled`). If not, the receiver has to. */
  delivered_by_hanko: boolean;
  /** The same as `language`, for published receivers. */
  accept_language: string;
  language: Language;
  type: "login" | "recovery" | "email_verification";
  data: {
    service_name: string;
    otp_code: string;
    /** Seconds for which the code is valid. */
    ttl: number;
    /** Seconds since 1970. */
    valid_until: number;
    /** The link beside the code, with `email.links`. It is as secret as the code. */
    link?: string | undefined;
  };
}
export interface DryRun {
  /** That of the tenant: `if_unchanged_since` of the change. */
  updated_at: string;
  /** Users who were judged. Blocked ones are not. */
  users: number;
  /** Users who could sign in, and no longer can. */
  locked_out: {
    /** Users of all groups. */
    count: number;
    /** Users for the same reasons, the largest group first. */
    groups: {
      count: number;
      /** What has decided that, a sentence each. */
      reasons: string[];
      /** A few of them, masked. */
      sample: {
        id: string;
        email: string | null;
        username: string | null;
        phone: string | null;
      }[];
      /** What the export takes to list them all. */
      keys: number[];
    }[];
  };
  /** Users who can sign in neither before nor after. */
  locked_out_before: {
    /** Users of all groups. */
    count: number;
    /** Users for the same reasons, the largest group first. */
    groups: {
      count: number;
      /** What has decided that, a sentence each. */
      reasons: string[];
      /** A few of them, masked. */
      sample: {
        id: string;
        email: string | null;
        username: string | null;
        phone: string | null;
      }[];
      /** What the export takes to list them all. */
      keys: number[];
    }[];
  };
  /** Users who could not sign in, and can. */
  regains_access: {
    /** Users of all groups. */
    count: number;
    /** Users for the same reasons, the largest group first. */
    groups: {
      count: number;
      /** What has decided that, a sentence each. */
      reasons: string[];
      /** A few of them, masked. */
      sample: {
        id: string;
        email: string | null;
        username: string | null;
        phone: string | null;
      }[];
      /** What the export takes to list them all. */
      keys: number[];
    }[];
  };
  /** Users who are asked for a second factor at the next sign-in, and were not. */
  second_factor_asked: {
    /** Users of all groups. */
    count: number;
    /** Users for the same reasons, the largest group first. */
    groups: {
      count: number;
      /** What has decided that, a sentence each. */
      reasons: string[];
      /** A few of them, masked. */
      sample: {
        id: string;
        email: string | null;
        username: string | null;
        phone: string | null;
      }[];
      /** What the export takes to list them all. */
      keys: number[];
    }[];
  };
  /** Users who are no longer asked for a second factor. */
  second_factor_not_asked: {
    /** Users of all groups. */
    count: number;
    /** Users for the same reasons, the largest group first. */
    groups: {
      count: number;
      /** What has decided that, a sentence each. */
      reasons: string[];
      /** A few of them, masked. */
      sample: {
        id: string;
        email: string | null;
        username: string | null;
        phone: string | null;
      }[];
      /** What the export takes to list them all. */
      keys: number[];
    }[];
  };
  /** Users who are asked to set up a second factor at the next sign-in, and were not. */
  set_up_asked: {
    /** Users of all groups. */
    count: number;
    /** Users for the same reasons, the largest group first. */
    groups: {
      count: number;
      /** What has decided that, a sentence each. */
      reasons: string[];
      /** A few of them, masked. */
      sample: {
        id: string;
        email: string | null;
        username: string | null;
        phone: string | null;
      }[];
      /** What the export takes to list them all. */
      keys: number[];
    }[];
  };
  /** Users who are no longer asked to set up a second factor. */
  set_up_not_asked: {
    /** Users of all groups. */
    count: number;
    /** Users for the same reasons, the largest group first. */
    groups: {
      count: number;
      /** What has decided that, a sentence each. */
      reasons: string[];
      /** A few of them, masked. */
      sample: {
        id: string;
        email: string | null;
        username: string | null;
        phone: string | null;
      }[];
      /** What the export takes to list them all. */
      keys: number[];
    }[];
  };
  /** Flows under way that the change affects, as far as settings alone decide it. */
  flows: {
    type: "login" | "registration" | "profile" | "token_exchange" | "consent";
    state:
      | "preflight"
      | "account_choice"
      | "login_init"
      | "login_passkey"
      | "login_method_chooser"
      | "login_password"
      | "login_password_recovery"
      | "passcode_confirmation"
      | "phone_confirmation"
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
      | "login_sms"
      | "mfa_method_chooser"
      | "mfa_otp_secret_creation"
      | "mfa_security_key_creation"
      | "mfa_phone_creation"
      | "device_trust"
      | "profile_init"
      | "webauthn_credential_verification"
      | "account_deleted"
      | "device_code"
      | "consent"
      | "consent_answered"
      | "success";
    /** Flows under way in this state. */
    count: number;
    /** Nothing but `back` is left to do in it. */
    ends: boolean;
    /** Actions that are no longer offered. */
    withdrawn: {
      action: string;
      /** What has decided that, a sentence each. */
      reasons: string[];
    }[];
  }[];
}
export interface GrantEventData {
  user_id: string;
  client_id: string;
  /** The name by which the user knows it; of one that is not known any more, its id. */
  client_name: string;
  /** Scopes about the user. */
  scopes: string[];
  /** Claims about the user that it has asked for by name. */
  claims: string[];
  /** Scopes of APIs, by resource indicator. */
  resources: Record<string, string[]>;
  /** Address of the client. */
  ip_address?: string | undefined;
  /** `User-Agent` of the same client. */
  user_agent?: string | undefined;
}
export interface Happening {
  /** That of the entry of the audit log, of the session or of the event. */
  id: string;
  at: string;
  kind: "sign_in" | "failure" | "change" | "mail" | "sms" | "session" | "event";
  /** The type of the entry of the audit log, `session_live`, or the name of the event. */
  type: string;
  /** What happened, in English. It contains nothing of the account. */
  sentence: string;
  /** What the `reason` in the details of a failure means, in English. */
  reason?: string | undefined;
  /** Whether an operator has done it. */
  by_operator: boolean;
  request_id?: string | undefined;
  flow_id?: string | undefined;
  /** Masked if the settings of the audit log say so. */
  source_ip?: string | undefined;
  user_agent?: string | undefined;
  /** As the audit log shows them. */
  details: Record<string, unknown>;
}
export interface ImpersonatorObject {
  user_id: string;
  /** The tenant of that account. */
  tenant_id: string;
  role: "auditor" | "support" | "administrator" | "operator";
  /** Its primary address or username. */
  name: string;
  /** Why, in its words. */
  reason: string;
}
export interface Message {
  id: string;
  at: string;
  channel: "mail" | "sms";
  /** `withheld`: for a recipient without an account, or beyond a limit, so that nothing is sent. */
  outcome: "queued" | "accepted" | "failed" | "withheld";
  /** What the message is for, such as `login`. */
  kind: string;
  /** Masked. */
  recipient: string;
  /** The account that it is for. */
  user_id?: string | undefined;
  /** The request that caused it, the same for all its outcomes. */
  request_id?: string | undefined;
  flow_id?: string | undefined;
  attempts?: number | undefined;
  /** What the server has answered, without addresses and codes. */
  answer?: string | undefined;
  reason?: string | undefined;
  detail?: string | undefined;
  last_failure?: string | undefined;
}
export interface MessagePreview {
  channel: "mail" | "sms";
  /** What the message is for, such as `login`. */
  kind: string;
  /** Names one of several examples of the message. */
  example: string | null;
  /** Null for an SMS. */
  subject: string | null;
  text: string;
  /** Null for an SMS. */
  html: string | null;
}
export interface NoticeMailEventData {
  subject: string;
  body_plain: string;
  /** HTML. */
  body: string;
  to_email_address: string;
  /** Whether the service sends the mail too (`email_delivery.enabled`). If not, the receiver has to. */
  delivered_by_hanko: boolean;
  /** The same as `language`, for published receivers. */
  accept_language: string;
  language: Language;
  type: "email_login_attempted" | "email_registration_attempted" | "recovery_offered";
  data: {
    service_name: string;
  };
}
export interface OAuthProvider {
  /** `google`, or `custom_` and the key of one of the tenant's own. */
  id: string;
  custom: boolean;
  enabled: boolean;
  /** Its settings, without secrets. */
  settings: Record<string, unknown>;
  /** Names of the secrets that are set. */
  secrets: string[];
}
export interface OAuthProviderPatch {
  enabled?: boolean | null | undefined;
  client_id?: string | null | undefined;
  secret?: string | null | undefined;
  prompt?: string | null | undefined;
  allow_linking?: boolean | null | undefined;
  satisfies_mfa?: boolean | null | undefined;
  /** Apple team id; with key_id and private_key, instead of secret. Default: none. */
  team_id?: string | null | undefined;
  /** Id of the private key. Default: none. */
  key_id?: string | null | undefined;
  /** Private key (PKCS#8, PEM) that the client secret is made with. Default: none. */
  private_key?: string | null | undefined;
  /** Directory: common, organizations, consumers, or a tenant id. */
  tenant?: string | null | undefined;
  rp_initiated_logout?: boolean | null | undefined;
  display_name?: string | null | undefined;
  issuer?: string | null | undefined;
  use_discovery?: boolean | null | undefined;
  authorization_endpoint?: string | null | undefined;
  token_endpoint?: string | null | undefined;
  userinfo_endpoint?: string | null | undefined;
  scopes?: string[] | null | undefined;
  attribute_mapping?: Record<string, string | null> | null | undefined;
  acr_values?: string | null | undefined;
  end_session_endpoint?: string | null | undefined;
}
export interface OAuthProviderSettings {
  enabled?: boolean | null | undefined;
  display_name: string;
  client_id: string;
  secret?: string | null | undefined;
  issuer?: string | null | undefined;
  use_discovery?: boolean | null | undefined;
  authorization_endpoint?: string | null | undefined;
  token_endpoint?: string | null | undefined;
  userinfo_endpoint?: string | null | undefined;
  scopes?: string[] | null | undefined;
  attribute_mapping?: Record<string, string | null> | null | undefined;
  acr_values?: string | null | undefined;
  prompt?: string | null | undefined;
  allow_linking?: boolean | null | undefined;
  satisfies_mfa?: boolean | null | undefined;
  rp_initiated_logout?: boolean | null | undefined;
  end_session_endpoint?: string | null | undefined;
}
export interface OpenidClient {
  id: string;
  /** Its settings, without the secret. */
  settings: Record<string, unknown>;
  /** `secret`, if one is set. */
  secrets: string[];
}
export interface PagePreviews {
  /** The style sheet of the theme, beside that of the pages, for visitors with a light and with a dark system. */
  style: {
    light: string;
    dark: string;
  };
  /** Colours with too little contrast (WCAG 2.2, 1.4.3), and those that pages use instead. */
  warnings: string[];
  direction: "ltr" | "rtl";
  /** In the order of the request. */
  pictures: {
    /** Of the picture, or of the state. */
    name: string;
    /** HTML without scripts and without the logo. */
    markup: string;
  }[];
}
export interface ProviderFinding {
  check:
    | "settings"
    | "enabled"
    | "address"
    | "discovery"
    | "metadata"
    | "entity_id"
    | "issuer"
    | "endpoints"
    | "response_types"
    | "scopes"
    | "pkce"
    | "client_authentication"
    | "signatures"
    | "keys"
    | "certificates"
    | "validity"
    | "signed_requests"
    | "logout"
    | "clock";
  outcome: "ok" | "warning" | "error";
  message: string;
}
export interface RefusedRecord {
  /** Of the file. */
  line: number;
  /** Its number, from 1. */
  record: number;
  /** Its id at its source. */
  id?: string | undefined;
  reason: string;
}
export interface ReplaceableText {
  /** Its name in the setting `words`. */
  path: string;
  /** Ours. */
  text: string;
  /** The tenant's, in place of ours. */
  own: string | null;
}
export interface Reseal {
  id: string;
  state: "waiting" | "running" | "finished" | "failed" | "cancelled";
  /** Id of the key that values are moved under: the first one. */
  key: string;
  /** Values of the columns that were begun; null before the first. */
  total: number | null;
  moved: number;
  columns: {
    holds: string;
    table: string;
    column: string;
    /** Values that were to be moved; null if the column is not begun. */
    total: number | null;
    moved: number;
    /** Keys of values that stay, which are not configured. */
    unknown_keys: string[];
    /** Values that stay because they were changed in the database. */
    broken: number;
    done: boolean;
  }[];
  failure: string | null;
  created_at: string;
  updated_at: string;
}
export interface SamlProviderPatch {
  name?: string | null | undefined;
  enabled?: boolean | null | undefined;
  domain?: string | null | undefined;
  domains?: string[] | null | undefined;
  entity_id?: string | null | undefined;
  metadata_url?: string | null | undefined;
  metadata?: string | null | undefined;
  skip_email_verification?: boolean | null | undefined;
  satisfies_mfa?: boolean | null | undefined;
  allow_idp_initiated?: boolean | null | undefined;
  single_logout?: boolean | null | undefined;
  attribute_map?: Record<string, string | null> | null | undefined;
}
export interface SecretKeys {
  keys: {
    id: string;
    /** In `SECRET_KEYS`, from 1; null if it is not configured. */
    place: number | null;
    /** Stored values under it. */
    values: number;
    /** It is not the first one and no value is under it: remove it a day after the last move. */
    removable: boolean;
  }[];
  values: {
    holds: string;
    /** Null for a digest of an earlier version, which names no key. */
    key: string | null;
    place: number | null;
    count: number;
    /** What becomes of them under a former key: moved by a reseal, gone within a day, or replaced by their users. */
    after: "reseal" | "expiry" | "replacement";
  }[];
}
export interface SessionObject {
  id: string;
  user_id: string;
  /** Null if `session.acquire_user_agent` is off. */
  user_agent: string | null;
  /** Null if `session.acquire_ip_address` is off. */
  ip_address: string | null;
  created_at: string;
  /** The same as `last_used`. */
  updated_at: string;
  expires_at: string;
  last_used: string;
  /** Present if the browser has bound the session to a key of its device (`session.device_bound`). */
  device_bound?: boolean | undefined;
  /** Present if an account of the console acts in the session as the user. */
  impersonated_by?: ImpersonatorObject | undefined;
}
export interface Setting {
  name: string;
  /** The environment variable that sets it for the server. */
  variable: string;
  description: string;
  /** Absent where it has none, or derives from other settings. */
  default?: unknown | undefined;
  /** The value in force, without secrets. Absent where there is none, or the key may not know it. */
  value?: unknown | undefined;
  /** Where the value comes from. `derived`: from the name or the address of the tenant. */
  source: "default" | "file" | "environment" | "platform" | "tenant" | "derived";
  /** `server`: by its configuration alone; `operator`: for a tenant by a key of the default tenant; `tenant`: by any key of the tenant. */
  set_by: "server" | "operator" | "tenant";
  /** It, or a value in it, is a secret, and not told. */
  secret: boolean;
  /** Of the setting, and of the values in it. */
  bounds: {
    /** `[]` stands for each entry of a list, `{}` for each member of a map, `{key}` for its names. */
    name: string;
    kind: "text" | "choice" | "number" | "boolean" | "list" | "map" | "json";
    min?: number | undefined;
    max?: number | undefined;
    /** Nested levels of JSON. */
    levels?: number | undefined;
    /** What a number counts, where it is a duration. */
    unit?: "seconds" | undefined;
    /** Accepted values of a choice. */
    values?: unknown[] | undefined;
    note?: string | undefined;
    set_by: "server" | "operator" | "tenant";
  }[];
}
export interface SigningKey {
  /** `kid` of the key set. */
  id: string;
  /** `session`: tokens of sessions; `passkeys`: of the passkey server. */
  purpose: "session" | "passkeys";
  algorithm: "RS256" | "ES256" | "EdDSA";
  /** `next`: published, and signs soon; `former`: verifies what it has signed; `archived`: verifies no token. */
  state: "next" | "signing" | "former" | "archived";
  created_at: string;
  /** When it began to sign, or will. */
  signs_from: string;
  /** When its last token expires; null until it has retired. */
  published_until: string | null;
}
export interface SmsEventData {
  /** What the code is for. */
  type: "sms_login" | "sms_second_factor" | "phone_verification";
  /** E.164. */
  to_phone_number: string;
  /** The SMS. Its last line is for browsers, which offer the code to the page of `data.host`. */
  text: string;
  /** Whether the service sends the SMS too (`sms_delivery.enabled`). If not, the receiver has to. */
  delivered: boolean;
  language: Language;
  data: {
    service_name: string;
    otp_code: string;
    /** Seconds for which the code is valid. */
    ttl: number;
    /** Seconds since 1970. */
    valid_until: number;
    /** Host of the page that asks for the code, if it is known. */
    host: string | null;
  };
}
export interface Tenant {
  id: string;
  name: string;
  /** Its own host names, the public one first. */
  hosts: string[];
  /** Its public address; null if its settings are no longer valid. */
  base_url: string | null;
  /** Whether it is the tenant of the server's configuration, which defines its settings. */
  default: boolean;
  /** Its own settings, without secrets. */
  config: Record<string, unknown>;
  /** The paths of the secrets that are set, for instance `smtp_url`. */
  secrets: string[];
  /** What is accepted and not used as it is, such as colours with too little contrast, and entries from before a bound was made. */
  warnings: string[];
  created_at: string;
  updated_at: string;
}
export interface TokenEventData {
  user_id: string;
  client_id: string;
  kind: "authorization_code" | "device_code" | "refresh_token";
  reason: "reused";
  /** Address that the call came from. */
  ip_address?: string | undefined;
  /** `User-Agent` of the call. */
  user_agent?: string | undefined;
}
export interface UnlistedOpenidClient {
  /** Null if a former version has stored it, by the hash of its id alone. */
  id: string | null;
  origin: "document" | "registration";
  /** As it calls itself. Nothing of what it says is verified. */
  name: string | null;
  uri: string | null;
  redirect_uris: string[];
  token_endpoint_auth_method: string | null;
  /** When it was read first, or has registered. */
  created_at: string;
  /** When it is forgotten, unless a user allows it anything before. */
  expires_at: string;
}
export interface User {
  id: string;
  /** Oldest first. */
  webauthn_credentials?: UserCredential[] | undefined;
  /** The primary one first. */
  emails?: UserEmail[] | undefined;
  username?: Username | undefined;
  /** E.164. */
  phone_number?: string | undefined;
  /** Whether a code that was sent to it was entered. */
  phone_number_verified?: boolean | undefined;
  created_at: string;
  updated_at: string;
  password?: UserPassword | undefined;
  /** Oldest first. */
  identities?: UserIdentity[] | undefined;
  otp?: UserOtp | undefined;
  metadata?: UserMetadata | undefined;
  /** Since when the account is blocked: it has no session and gets none. */
  blocked_at?: string | undefined;
  /** Of mails, a tag of BCP 47. */
  language?: string | undefined;
  /** When a sign-in last issued a session. */
  last_sign_in_at?: string | undefined;
  name?: string | undefined;
  given_name?: string | undefined;
  family_name?: string | undefined;
  picture?: string | undefined;
}
export interface UserCredential {
  /** Credential id, base64url. */
  id: string;
  name?: string | undefined;
  /** COSE_Key, base64url. */
  public_key: string;
  attestation_type: string;
  aaguid: string;
  last_used_at?: string | undefined;
  created_at: string;
  transports: string[];
  backup_eligible: boolean;
  backup_state: boolean;
  /** True for a security key that is a second factor only. */
  mfa_only: boolean;
}
export interface UserEmail {
  id: string;
  address: string;
  is_verified: boolean;
  is_primary: boolean;
  created_at: string;
  updated_at: string;
}
export interface UserEventData {
  id: string;
  /** Oldest first. */
  webauthn_credentials?: UserCredential[] | undefined;
  /** The primary one first. */
  emails?: UserEmail[] | undefined;
  username?: Username | undefined;
  /** E.164. */
  phone_number?: string | undefined;
  /** Whether a code that was sent to it was entered. */
  phone_number_verified?: boolean | undefined;
  created_at: string;
  updated_at: string;
  password?: UserPassword | undefined;
  /** Oldest first. */
  identities?: UserIdentity[] | undefined;
  otp?: UserOtp | undefined;
  metadata?: UserMetadata | undefined;
  /** Since when the account is blocked: it has no session and gets none. */
  blocked_at?: string | undefined;
  /** Of mails, a tag of BCP 47. */
  language?: string | undefined;
  /** When a sign-in last issued a session. */
  last_sign_in_at?: string | undefined;
  name?: string | undefined;
  given_name?: string | undefined;
  family_name?: string | undefined;
  picture?: string | undefined;
  /** Address of the client, for changes by the user and of emails. */
  ip_address?: string | undefined;
  /** `User-Agent` of the same client. */
  user_agent?: string | undefined;
}
export interface UserIdentity {
  id: string;
  /** The subject identifier at the provider. */
  provider_id: string;
  /** The provider: `google`, `custom_…`, or `saml:` and its entity id. */
  provider_name: string;
  /** The user's email with the address that the provider stated. */
  email_id?: string | undefined;
  created_at: string;
  updated_at: string;
}
export interface UserImport {
  id: string;
  /** `checked`: nothing was written, and the file can be imported. */
  state: "uploading" | "waiting" | "running" | "checked" | "imported" | "failed" | "cancelled";
  /** Whether the file was or is only checked. */
  check: boolean;
  format: string | null;
  /** Pieces that were taken; the next one has the number after it. */
  pieces: number;
  bytes: number;
  /** Records that were read, while the import runs. */
  records: number | null;
  /** Records of the whole file, of which each is imported or refused. Null before it was checked. */
  expected: number | null;
  /** Users that were imported, or would be. */
  imported: number;
  /** Records that were refused, or would be. */
  refused: number;
  /** Fields that were not carried over, with the number of users. */
  omitted: Record<string, number>;
  /** Why the file cannot be imported. */
  failure: string | null;
  created_at: string;
  updated_at: string;
}
export interface UserMetadata {
  /** Visible to the user and to applications. */
  public_metadata?: Record<string, unknown> | undefined;
  /** Visible to the operator alone. */
  private_metadata?: Record<string, unknown> | undefined;
  /** Writable by the user. */
  unsafe_metadata?: Record<string, unknown> | undefined;
}
export interface UserOtp {
  id: string;
  created_at: string;
}
export interface UserPassword {
  id: string;
  tenant_id: string;
  created_at: string;
  updated_at: string;
}
export interface UserPhoneNumber {
  /** E.164. */
  phone_number: string;
  /** Whether a code that was sent to it was entered. */
  phone_number_verified: boolean;
}
export interface Username {
  id: string;
  username: string;
  created_at: string;
  updated_at: string;
}
export interface Webhook {
  id: string;
  callback: string;
  enabled: boolean;
  /** Deliveries in a row that were given up. Above 5 the webhook is disabled. */
  failures: number;
  /** 30 days after the last delivery. Effective with `webhooks.allow_time_expiration`. */
  expires_at: string;
  /** Whether it expires: `webhooks.allow_time_expiration`. */
  expires: boolean;
  events: {
    id: string;
    event: EventSubscription;
  }[];
  created_at: string;
  updated_at: string;
}
export interface WebhookDelivery {
  id: string;
  webhook_id: string;
  /** The `webhook-id` header. */
  event_id: string;
  /** Null if the event is older than `webhooks.retention`. */
  event: string | null;
  /** The user whose events are delivered in order. */
  subject_id: string | null;
  /** The flow that caused the event. */
  flow_id: string | null;
  state: "waiting" | "delivered" | "failed";
  attempts: {
    number: number;
    at: string;
    duration_ms: number;
    /** Status of the answer; null without one. */
    status: number | null;
    /** `status`, `redirect`, `timeout`, `address`, `name`, `certificate` or `connection`; null if it succeeded. */
    error: string | null;
    /** First KiB of the answer; null for an empty or a compressed one. */
    answer: string | null;
  }[];
  next_attempt_at: string | null;
  replay_of: string | null;
  created_at: string;
  finished_at: string | null;
}
export interface WebhookDeliveryWithData {
  id: string;
  webhook_id: string;
  /** The `webhook-id` header. */
  event_id: string;
  /** Null if the event is older than `webhooks.retention`. */
  event: string | null;
  /** The user whose events are delivered in order. */
  subject_id: string | null;
  /** The flow that caused the event. */
  flow_id: string | null;
  state: "waiting" | "delivered" | "failed";
  attempts: {
    number: number;
    at: string;
    duration_ms: number;
    /** Status of the answer; null without one. */
    status: number | null;
    /** `status`, `redirect`, `timeout`, `address`, `name`, `certificate` or `connection`; null if it succeeded. */
    error: string | null;
    /** First KiB of the answer; null for an empty or a compressed one. */
    answer: string | null;
  }[];
  next_attempt_at: string | null;
  replay_of: string | null;
  created_at: string;
  finished_at: string | null;
  /** Data of the event as they are stored; the user is added when it is sent. Null where they are sealed, because they hold a code, or are erased. */
  data: Record<string, unknown> | null;
}
export interface WebhookWithSecret {
  id: string;
  callback: string;
  enabled: boolean;
  /** Deliveries in a row that were given up. Above 5 the webhook is disabled. */
  failures: number;
  /** 30 days after the last delivery. Effective with `webhooks.allow_time_expiration`. */
  expires_at: string;
  /** Whether it expires: `webhooks.allow_time_expiration`. */
  expires: boolean;
  events: {
    id: string;
    event: EventSubscription;
  }[];
  created_at: string;
  updated_at: string;
  /** Signs deliveries (Standard Webhooks). In this answer alone. */
  secret: string;
}
export type AuditType =
  | "login_failure"
  | "thirdparty_signin_signup_failed"
  | "authenticator_deregistered"
  | "authenticator_registered"
  | "authenticator_renamed"
  | "authenticator_request_failed"
  | "authenticator_request_succeeded"
  | "consent_declined"
  | "consent_given"
  | "consent_withdrawn"
  | "email_created"
  | "email_deleted"
  | "email_verified"
  | "impersonation_ended"
  | "impersonation_started"
  | "login_success"
  | "mail_accepted"
  | "mail_failed"
  | "mail_queued"
  | "mail_withheld"
  | "metadata_changed"
  | "otp_created"
  | "otp_creation_failed"
  | "otp_deleted"
  | "passkey_created"
  | "passkey_deleted"
  | "passkey_renamed"
  | "passkey_sign_count_stale"
  | "password_changed"
  | "password_deleted"
  | "phone_created"
  | "phone_deleted"
  | "phone_verified"
  | "primary_email_changed"
  | "profile_changed"
  | "reauthentication_succeeded"
  | "recovery_codes_created"
  | "recovery_codes_deleted"
  | "recovery_offered"
  | "security_key_created"
  | "security_key_deleted"
  | "security_notification_sent"
  | "session_binding_rejected"
  | "session_bound"
  | "session_created"
  | "session_revoked"
  | "sms_accepted"
  | "sms_failed"
  | "sms_queued"
  | "sms_withheld"
  | "thirdparty_linking_succeeded"
  | "thirdparty_signin_succeeded"
  | "thirdparty_signup_succeeded"
  | "thirdparty_unlinked"
  | "token_exchanged"
  | "token_reused"
  | "trusted_device_created"
  | "trusted_device_revoked"
  | "trusted_device_stolen"
  | "user_blocked"
  | "user_created"
  | "user_deleted"
  | "user_logged_out"
  | "user_unblocked"
  | "username_changed"
  | "username_deleted"
  | "api_key_created"
  | "api_key_deleted"
  | "api_key_rejected"
  | "console_changed"
  | "console_entered"
  | "console_entry_rejected"
  | "console_role_granted"
  | "console_role_revoked"
  | "secrets_reseal_begun"
  | "secrets_reseal_cancelled"
  | "secrets_resealed"
  | "signing_key_rotated"
  | "tenant_changed"
  | "tenant_created"
  | "tenant_deleted"
  | "users_exported"
  | "users_imported"
  | "webhook_changed"
  | "webhook_created"
  | "webhook_deleted"
  | "webhook_disabled"
  | "webhook_secret_rotated"
  | "webauthn_registration_init_succeeded"
  | "webauthn_registration_init_failed"
  | "webauthn_registration_final_succeeded"
  | "webauthn_registration_final_failed"
  | "webauthn_authentication_init_succeeded"
  | "webauthn_authentication_init_failed"
  | "webauthn_authentication_final_succeeded"
  | "webauthn_authentication_final_failed"
  | "webauthn_transaction_init_succeeded"
  | "webauthn_transaction_init_failed"
  | "webauthn_transaction_final_succeeded"
  | "webauthn_transaction_final_failed"
  | "mfa_registration_init_succeeded"
  | "mfa_registration_init_failed"
  | "mfa_registration_final_succeeded"
  | "mfa_registration_final_failed"
  | "mfa_authentication_init_succeeded"
  | "mfa_authentication_init_failed"
  | "mfa_authentication_final_succeeded"
  | "mfa_authentication_final_failed"
  | "webauthn_credential_updated"
  | "webauthn_credential_deleted"
  | "webauthn_user_deleted"
  | "audit_limit_reached";
export type EventSubscription =
  | "user.create"
  | "user.delete"
  | "user.login"
  | "user.impersonate"
  | "user.update"
  | "user.update.email.create"
  | "user.update.email.delete"
  | "user.update.email.primary"
  | "user.update.username.create"
  | "user.update.username.delete"
  | "user.update.username.update"
  | "user.update.password.update"
  | "user.update.phone.create"
  | "user.update.phone.delete"
  | "session.create.flow"
  | "session.create.admin"
  | "session.binding.create"
  | "session.binding.rejected"
  | "session.delete.explicit.logout"
  | "session.delete.explicit.revoke"
  | "session.delete.admin.revoke"
  | "session.delete.passive.expire"
  | "session.delete.passive.limit"
  | "oauth.grant.create"
  | "oauth.grant.revoke"
  | "oauth.token.refused"
  | "email.send"
  | "sms.send"
  | "user"
  | "user.update.email"
  | "user.update.username"
  | "user.update.password"
  | "user.update.phone"
  | "session"
  | "session.create"
  | "session.binding"
  | "session.delete"
  | "session.delete.explicit"
  | "session.delete.admin"
  | "session.delete.passive"
  | "oauth"
  | "oauth.grant"
  | "oauth.token";
export type FlowBundle = {
  /** That of the bundle. Another one is not read. */
  format: 1;
  /** The version of Stile that has exported it. */
  version: string;
  type: "login" | "registration" | "profile" | "token_exchange" | "consent";
  /** The settings that the steps were judged by, without secrets and texts of the operator. */
  settings: Record<string, unknown>[];
  steps: {
    action: string | null;
    verdict: string;
    from: string | null;
    state: string | null;
    error: string | null;
    not_offered: {
      actions: Record<string, string[]>;
      states: Record<string, string[]>;
    };
    /** Position of the settings of the step. */
    settings: number;
    /** What the step was decided by, without values; null if nothing was judged. */
    decided_by: {
      version: number;
      at: number;
      begins?: Record<string, unknown> | undefined;
      user: {
        has: string[];
        credentials?: number | undefined;
        declinedAt?: number | undefined;
      } | null;
      facts?:
        | {
            has: string[];
            credentials?: number | undefined;
            declinedAt?: number | undefined;
            deviceTrusted: boolean;
          }
        | undefined;
      owner?:
        | {
            account: {
              has: string[];
              emails: string[];
              username: boolean;
              phone: "none" | "unverified" | "verified";
              passkeys: number;
              securityKeys: number;
              identities: string[];
              profile: string[];
              otherSessions: number;
              authenticators: number;
              applications: number;
              recoveryCodes: number;
            } | null;
            session: {
              authenticatedAt: number | null;
              factors: unknown[];
            };
          }
        | undefined;
      ownerAfter?:
        | {
            account: {
              has: string[];
              emails: string[];
              username: boolean;
              phone: "none" | "unverified" | "verified";
              passkeys: number;
              securityKeys: number;
              identities: string[];
              profile: string[];
              otherSessions: number;
              authenticators: number;
              applications: number;
              recoveryCodes: number;
            } | null;
            session: {
              authenticatedAt: number | null;
              factors: unknown[];
            };
          }
        | undefined;
      postponed?: boolean | undefined;
      malformed?: Record<string, string> | undefined;
      outcome?:
        | {
            to: string;
            commits: boolean;
            enters: boolean;
            data?: Record<string, unknown> | undefined;
            facts?: Record<string, boolean | null | number | string> | undefined;
            via?: string | undefined;
            proceeds?: boolean | undefined;
          }
        | {
            rejects: string;
            input?: string | undefined;
            renews: boolean;
          }
        | undefined;
      device?: "trusted" | "replaced" | undefined;
      entered?:
        | {
            state: string;
            data?: Record<string, unknown> | undefined;
            error?:
              | {
                  code: string;
                  inputs?: Record<string, string> | undefined;
                }
              | undefined;
          }[]
        | undefined;
      conflict?:
        | {
            name: string;
            user: {
              has: string[];
              credentials?: number | undefined;
              declinedAt?: number | undefined;
            } | null;
          }
        | undefined;
      offered?: Record<string, string> | undefined;
    } | null;
  }[];
};
export type Language = "de" | "en" | "fr" | "it" | "nl" | "pt-BR" | "bn" | "zh";
export type MailEventData = CodeMailEventData | NoticeMailEventData | ChangeMailEventData;
export type OpenidClientGrant = {
  user_id: string;
  /** The primary one. */
  email: string | null;
  /** What the user has allowed; null for the operator's own clients, which need no consent. */
  consent: {
    scopes: string[];
    /** Claims that were asked for by name (OpenID Connect Core, 5.5). */
    claims: string[];
    /** Scopes of APIs by resource indicator. */
    resources: Record<string, string[]>;
    /** When the application has to ask again; null: never. */
    expires_at: string | null;
  } | null;
  /** When the user has allowed it, or signed in to it first. */
  since: string;
  /** Access tokens that are accepted. */
  access_tokens: number;
  /** Refresh tokens that are accepted. */
  refresh_tokens: number;
};
export type OpenidClientPatch = {
  /** Shown to users. */
  name?: string | null | undefined;
  /** Authenticates the client at the token endpoint. Default: none, a public client. */
  secret?: string | null | undefined;
  /** Public keys (RFC 7517): the client authenticates by JWTs that it signs (private_key_jwt). */
  jwks?:
    | {
        keys?:
          | {
              kty: "RSA" | "EC" | "OKP";
              kid?: string | undefined;
              use?: "sig" | undefined;
              alg?: "EdDSA" | "ES256" | "PS256" | "RS256" | undefined;
              crv?: "P-256" | "Ed25519" | undefined;
              x?: string | undefined;
              y?: string | undefined;
              n?: string | undefined;
              e?: string | undefined;
            }[]
          | null
          | undefined;
      }
    | null
    | undefined;
  redirect_uris?: string[] | null | undefined;
  post_logout_redirect_uris?: string[] | null | undefined;
  /** Is told when a session ends (OpenID Connect Back-Channel Logout 1.0). Default: the client is not told. */
  backchannel_logout_uri?: string | null | undefined;
  /** Is loaded in a frame where a user signs out in the browser (OpenID Connect Front-Channel Logout 1.0). Its origin is that of one of redirect_uris. Default: none is loaded. */
  frontchannel_logout_uri?: string | null | undefined;
  grants?:
    | ("authorization_code" | "refresh_token" | "client_credentials" | "device_code" | "token_exchange")[]
    | null
    | undefined;
  scopes?: string[] | null | undefined;
  /** APIs of openid.resources that the client is the service of: with the grant token_exchange it exchanges access tokens that were issued for them. */
  serves?: string[] | null | undefined;
  /** A native application may listen at any port of the device, and use a scheme of its own (RFC 8252, 7). Default: web. */
  application_type?: "web" | "native" | null | undefined;
  /** The client knows users by their ids, or by others than clients on other hosts do. Default: public. */
  subject_type?: "public" | "pairwise" | null | undefined;
  require_par?: boolean | null | undefined;
  require_dpop?: boolean | null | undefined;
  /** The operator's own: its users are not asked for consent. Default: true. */
  first_party?: boolean | null | undefined;
  /** Further claims of the client's ID tokens and of UserInfo: constants, or templates, as in session.jwt_template.claims. */
  claims?: Record<string, unknown> | null | undefined;
  /** Further claims of the client's access tokens for APIs, which read them there. */
  access_token_claims?: Record<string, unknown> | null | undefined;
  /** The home page, for users. */
  client_uri?: string | null | undefined;
  /** What becomes of users' data, for users. */
  policy_uri?: string | null | undefined;
  /** The terms of service, for users. */
  tos_uri?: string | null | undefined;
};
export type OpenidClientSettings = {
  /** Shown to users. */
  name: string;
  /** Authenticates the client at the token endpoint. Default: none, a public client. */
  secret?: string | null | undefined;
  /** Public keys (RFC 7517): the client authenticates by JWTs that it signs (private_key_jwt). */
  jwks?:
    | {
        keys?:
          | {
              kty: "RSA" | "EC" | "OKP";
              kid?: string | undefined;
              use?: "sig" | undefined;
              alg?: "EdDSA" | "ES256" | "PS256" | "RS256" | undefined;
              crv?: "P-256" | "Ed25519" | undefined;
              x?: string | undefined;
              y?: string | undefined;
              n?: string | undefined;
              e?: string | undefined;
            }[]
          | null
          | undefined;
      }
    | null
    | undefined;
  redirect_uris?: string[] | null | undefined;
  post_logout_redirect_uris?: string[] | null | undefined;
  /** Is told when a session ends (OpenID Connect Back-Channel Logout 1.0). Default: the client is not told. */
  backchannel_logout_uri?: string | null | undefined;
  /** Is loaded in a frame where a user signs out in the browser (OpenID Connect Front-Channel Logout 1.0). Its origin is that of one of redirect_uris. Default: none is loaded. */
  frontchannel_logout_uri?: string | null | undefined;
  grants?:
    | ("authorization_code" | "refresh_token" | "client_credentials" | "device_code" | "token_exchange")[]
    | null
    | undefined;
  scopes?: string[] | null | undefined;
  /** APIs of openid.resources that the client is the service of: with the grant token_exchange it exchanges access tokens that were issued for them. */
  serves?: string[] | null | undefined;
  /** A native application may listen at any port of the device, and use a scheme of its own (RFC 8252, 7). Default: web. */
  application_type?: "web" | "native" | null | undefined;
  /** The client knows users by their ids, or by others than clients on other hosts do. Default: public. */
  subject_type?: "public" | "pairwise" | null | undefined;
  require_par?: boolean | null | undefined;
  require_dpop?: boolean | null | undefined;
  /** The operator's own: its users are not asked for consent. Default: true. */
  first_party?: boolean | null | undefined;
  /** Further claims of the client's ID tokens and of UserInfo: constants, or templates, as in session.jwt_template.claims. */
  claims?: Record<string, unknown> | null | undefined;
  /** Further claims of the client's access tokens for APIs, which read them there. */
  access_token_claims?: Record<string, unknown> | null | undefined;
  /** The home page, for users. */
  client_uri?: string | null | undefined;
  /** What becomes of users' data, for users. */
  policy_uri?: string | null | undefined;
  /** The terms of service, for users. */
  tos_uri?: string | null | undefined;
};
export type ProviderTest = {
  id: string;
  provider_id: string;
  /** `opened`: in a browser; `sent`: to the provider; `ended`: there is a result. */
  state: "begun" | "opened" | "sent" | "ended";
  /** Where the browser of the session begins, once. */
  url: string;
  /** The result is deleted then. */
  expires_at: string;
  result: {
    /** `refused`: the provider's answer is accepted, but no account would be signed in; `failed`: the answer is not accepted. */
    outcome: "accepted" | "refused" | "failed";
    /** Of a refusal or a failure; as in the audit log. */
    reason: string | null;
    detail: string | null;
    /** What would become of the sign-in, in one sentence. */
    message: string;
    /** What would be asked for further, a sentence each. */
    notes: string[];
    decision: "sign_in" | "link" | "sign_up" | null;
    /** The account that would be signed in or linked. */
    user: {
      id: string;
      email: string | null;
    } | null;
    /** What this service would know of the user. */
    facts: {
      provider: string;
      subject: string;
      email: string | null;
      emailVerified: boolean;
      name?: string | undefined;
      givenName?: string | undefined;
      familyName?: string | undefined;
      picture?: string | undefined;
      satisfiesMfa: boolean;
      skipEmailVerification: boolean;
    } | null;
    /** The claim or attribute that each fact is read from. */
    mapping: {
      fact: string;
      from: string;
      value: string | null;
    }[];
    /** What the provider stated, as JSON. Long values are shortened. */
    received: {
      source: "id_token" | "userinfo" | "api" | "assertion";
      claims: {
        name: string;
        value: string;
      }[];
    }[];
  } | null;
};
export type ReplayedFlow = {
  /** The version that exported the bundle. */
  version: string;
  type: "login" | "registration" | "profile" | "token_exchange" | "consent";
  /** Null: none. What the flow does comes before what differs in reasons alone. */
  first_difference: {
    step: number;
    /** `action`: the action of the step is offered or is not; `withheld`, `offered`: another action of the state; `inputs`: of an action; `reasons`: of what is the same; `unknown`: this version does not know a name, or what is recorded. */
    kind:
      | "action"
      | "state"
      | "verdict"
      | "error"
      | "offered"
      | "withheld"
      | "inputs"
      | "reasons"
      | "unknown";
    /** The action or the state that it is about. */
    about: string | null;
    recorded: string | null;
    now: string | null;
    /** What decided when it was recorded, where that differs. */
    decided_then: {
      /** Kind and subject of what decided, after `!` if it does not hold. */
      name: string;
      /** The name again where this version does not know it. */
      sentence: string;
    }[];
    decided_now: {
      /** Kind and subject of what decided, after `!` if it does not hold. */
      name: string;
      /** The name again where this version does not know it. */
      sentence: string;
    }[];
    /** The settings that differ and could have caused it: at most 20. */
    settings: {
      name: string;
      /** The recorded value, as JSON of at most 200 characters. `~` stands for a text. */
      before: string;
      now: string;
    }[];
  } | null;
  /** At most 200. */
  differences: {
    step: number;
    /** `action`: the action of the step is offered or is not; `withheld`, `offered`: another action of the state; `inputs`: of an action; `reasons`: of what is the same; `unknown`: this version does not know a name, or what is recorded. */
    kind:
      | "action"
      | "state"
      | "verdict"
      | "error"
      | "offered"
      | "withheld"
      | "inputs"
      | "reasons"
      | "unknown";
    /** The action or the state that it is about. */
    about: string | null;
    recorded: string | null;
    now: string | null;
    /** What decided when it was recorded, where that differs. */
    decided_then: {
      /** Kind and subject of what decided, after `!` if it does not hold. */
      name: string;
      /** The name again where this version does not know it. */
      sentence: string;
    }[];
    decided_now: {
      /** Kind and subject of what decided, after `!` if it does not hold. */
      name: string;
      /** The name again where this version does not know it. */
      sentence: string;
    }[];
    /** The settings that differ and could have caused it: at most 20. */
    settings: {
      name: string;
      /** The recorded value, as JSON of at most 200 characters. `~` stands for a text. */
      before: string;
      now: string;
    }[];
  }[];
  /** Settings that differ from the recorded ones. */
  settings: {
    name: string;
    /** The recorded value, as JSON of at most 200 characters. `~` stands for a text. */
    before: string;
    now: string;
  }[];
  steps: {
    action: string | null;
    from: string | null;
    /** Since the flow was started. Null: nothing was judged. */
    at_ms: number | null;
    recorded: {
      verdict: string;
      /** Null: the answer shows no state of the flow. */
      state: string | null;
      error: string | null;
      offered: string[];
      not_offered: {
        actions: {
          name: string;
          reasons: {
            /** Kind and subject of what decided, after `!` if it does not hold. */
            name: string;
            /** The name again where this version does not know it. */
            sentence: string;
          }[];
        }[];
        states: {
          name: string;
          reasons: {
            /** Kind and subject of what decided, after `!` if it does not hold. */
            name: string;
            /** The name again where this version does not know it. */
            sentence: string;
          }[];
        }[];
      };
    };
    /** Null: nothing was judged then, or the flow takes another way before it. */
    now: {
      verdict: string;
      /** Null: the answer shows no state of the flow. */
      state: string | null;
      error: string | null;
      offered: string[];
      not_offered: {
        actions: {
          name: string;
          reasons: {
            /** Kind and subject of what decided, after `!` if it does not hold. */
            name: string;
            /** The name again where this version does not know it. */
            sentence: string;
          }[];
        }[];
        states: {
          name: string;
          reasons: {
            /** Kind and subject of what decided, after `!` if it does not hold. */
            name: string;
            /** The name again where this version does not know it. */
            sentence: string;
          }[];
        }[];
      };
    } | null;
  }[];
};
export type SettingsVersion = {
  id: string;
  /** `updated_at` of the tenant after the change. */
  created_at: string;
  /** Who made the change; null if it is not known. */
  by: {
    kind: "api_key" | "user" | "cli";
    /** Of the API key or the user. */
    id: string | null;
    /** The tenant of the user, while there is that account. Operators are users of the default tenant. */
    tenant_id?: string | undefined;
  } | null;
  /** The version whose settings the change restored. */
  restored_id: string | null;
  /** The first hundred settings that the change changed. Of a long value the first 500 characters are told, as a text; what only a later version knows is told as `***`. */
  changes: {
    path: string;
    /** Absent where it was not set. */
    before?: unknown | undefined;
    /** Absent where it is not set. */
    after?: unknown | undefined;
    /** The values are secrets, and told as `***`. */
    secret?: boolean | undefined;
  }[];
};
export type TenantSettings = {
  /** Mail server. Without one, development keeps mail in the local mailbox page. */
  smtp_url?: string | null | undefined;
  service?:
    | {
        /** Name of the service in pages, mails and authenticator apps: one line without anything that mail programs turn into a link. */
        name?: string | null | undefined;
        /** Whether only the operator changes service.name: tenants can then set neither it nor their name. */
        name_pinned?: boolean | null | undefined;
      }
    | null
    | undefined;
  cors?:
    | {
        /** Origins, exactly as browsers send them, that may call this service with credentials. */
        allow_origins?: string[] | null | undefined;
      }
    | null
    | undefined;
  embed?:
    | {
        /** Origins, exactly as browsers send them, of pages that may show the login in a frame, and those that receive the session cookie also the pages of authorization requests; their passkey ceremonies are accepted. https only, in development also http://localhost. Default: none. */
        origins?: string[] | null | undefined;
      }
    | null
    | undefined;
  account?:
    | {
        /** Whether visitors may register themselves. */
        allow_signup?: boolean | null | undefined;
        /** Whether users may delete their account. */
        allow_deletion?: boolean | null | undefined;
        /** Whether users may change their name. */
        allow_name_change?: boolean | null | undefined;
        /** Whether users may upload and remove a picture of themselves. */
        allow_picture_change?: boolean | null | undefined;
        /** Whether the account page shows an editor, in JSON, of the metadata that the user may change. The action is offered to clients either way. */
        metadata_editor?: boolean | null | undefined;
      }
    | null
    | undefined;
  compatibility?:
    | {
        /** published sends, for error codes that published components have no words for, the nearest code that they know; precise sends every code itself. */
        error_codes?: "published" | "precise" | null | undefined;
      }
    | null
    | undefined;
  flow?:
    | {
        /** Life of a flow from its start; never extended. */
        lifetime?: number | string | null | undefined;
      }
    | null
    | undefined;
  privacy?:
    | {
        /** Tell visitors when an identifier is unknown or an email address is taken. */
        show_account_existence_hints?: boolean | null | undefined;
        /** Offer only the methods that the account has; discloses that it exists. */
        only_show_actual_login_methods?: boolean | null | undefined;
      }
    | null
    | undefined;
  email?:
    | {
        /** Whether accounts have email addresses. */
        enabled?: boolean | null | undefined;
        /** Whether an account may do without one. */
        optional?: boolean | null | undefined;
        /** Ask for an address at registration. */
        acquire_on_registration?: boolean | null | undefined;
        /** Ask for an address at login when the account has none. */
        acquire_on_login?: boolean | null | undefined;
        /** An address counts only after a code sent to it came back. */
        require_verification?: boolean | null | undefined;
        /** Users may identify themselves by their address. */
        use_as_login_identifier?: boolean | null | undefined;
        /** A mailed code is a way to sign in. */
        use_for_authentication?: boolean | null | undefined;
        /** Longest address, in characters. */
        max_length?: number | null | undefined;
        /** Most addresses of one account. */
        limit?: number | null | undefined;
        /** Characters of mailed codes: digits, or digits and letters without those that are easily confused. */
        passcode_charset?: "numeric" | "alphanumeric" | null | undefined;
        /** Life of a mailed code; NIST SP 800-63B-4 allows 10 minutes. */
        passcode_ttl?: number | string | null | undefined;
        /** Whether the mail of a code also carries a link. It opens a page with one button, which goes on in the browser that began, and shows the code in any other. */
        links?: boolean | null | undefined;
      }
    | null
    | undefined;
  username?:
    | {
        /** Whether accounts have usernames. */
        enabled?: boolean | null | undefined;
        /** Whether an account may do without one. */
        optional?: boolean | null | undefined;
        /** Ask for a username at registration. */
        acquire_on_registration?: boolean | null | undefined;
        /** Ask for a username at login when the account has none. */
        acquire_on_login?: boolean | null | undefined;
        /** Users may identify themselves by their username. */
        use_as_login_identifier?: boolean | null | undefined;
        /** Shortest username. */
        min_length?: number | null | undefined;
        /** Longest username. */
        max_length?: number | null | undefined;
      }
    | null
    | undefined;
  phone?:
    | {
        /** Whether an account may have a telephone number, to which codes are sent. */
        enabled?: boolean | null | undefined;
        /** Whether an account may do without one. */
        optional?: boolean | null | undefined;
        /** Ask for a number at registration. */
        acquire_on_registration?: boolean | null | undefined;
        /** Users may identify themselves by their number. */
        use_as_login_identifier?: boolean | null | undefined;
        /** A code by SMS is a way to sign in. */
        use_for_authentication?: boolean | null | undefined;
        /** Countries (ISO 3166-1 alpha-2, such as DE) whose mobile numbers are accepted. Empty: none. Each one is a price that an attacker may make you pay. */
        allowed_countries?: string[] | null | undefined;
        /** Life of a code by SMS; NIST SP 800-63B-4 allows 10 minutes. */
        code_ttl?: number | string | null | undefined;
      }
    | null
    | undefined;
  password?:
    | {
        /** Whether accounts have passwords. */
        enabled?: boolean | null | undefined;
        /** Whether an account may do without one. */
        optional?: boolean | null | undefined;
        /** Ask for a password at registration. */
        acquire_on_registration?: "always" | "conditional" | "never" | null | undefined;
        /** Ask for a password at login when the account has none. */
        acquire_on_login?: "always" | "conditional" | "never" | null | undefined;
        /** A code mailed to the account may replace a forgotten password. */
        recovery?: boolean | null | undefined;
        /** Fewest characters; 15 meets NIST SP 800-63B-4 for passwords as the only factor. */
        min_length?: number | null | undefined;
        /** Most characters. */
        max_length?: number | null | undefined;
      }
    | null
    | undefined;
  passkey?:
    | {
        /** Whether accounts have passkeys. */
        enabled?: boolean | null | undefined;
        /** Whether an account may do without one. */
        optional?: boolean | null | undefined;
        /** Offer to create a passkey at registration. */
        acquire_on_registration?: "always" | "conditional" | "never" | null | undefined;
        /** Offer to create a passkey at login when the account has none. */
        acquire_on_login?: "always" | "conditional" | "never" | null | undefined;
        /** How long a login does not offer a passkey again after the user declined it; 0 offers it each time. */
        offer_again_after?: number | string | null | undefined;
        /** User verification asked of authenticators. */
        user_verification?: "required" | "preferred" | "discouraged" | null | undefined;
        /** Attestation asked of authenticators. */
        attestation_preference?: "none" | "indirect" | "direct" | null | undefined;
        /** Most passkeys of one account. */
        limit?: number | null | undefined;
        /** Kinds of authenticator that browsers put first: security-key, client-device, hybrid. */
        hints?: ("security-key" | "client-device" | "hybrid")[] | null | undefined;
        /** Formats of attestation statements that are accepted. */
        attestation_formats?:
          | ("none" | "packed" | "fido-u2f" | "tpm" | "apple" | "android-key")[]
          | null
          | undefined;
        /** Let browsers create a passkey automatically after a password login, where they can. */
        conditional_create?: boolean | null | undefined;
      }
    | null
    | undefined;
  mfa?:
    | {
        /** Whether accounts have second factors. */
        enabled?: boolean | null | undefined;
        /** Whether an account may do without one. */
        optional?: boolean | null | undefined;
        /** Offer to set up a second factor at login. */
        acquire_on_login?: boolean | null | undefined;
        /** Offer to set up a second factor at registration. The account page offers it in any case. */
        acquire_on_registration?: boolean | null | undefined;
        /** Whether a browser may be trusted to skip the second factor; prompt asks the user. */
        device_trust_policy?: "never" | "prompt" | "always" | null | undefined;
        /** How long a browser is trusted. */
        device_trust_duration?: number | string | null | undefined;
        /** Name of the cookie of a trusted device. */
        device_trust_cookie_name?: string | null | undefined;
        /** Most accounts that one browser is trusted for. */
        device_trust_max_users_per_device?: number | null | undefined;
        /** Hand out ten codes that stand in for a lost second factor, when the first one is set up. */
        recovery_codes?: boolean | null | undefined;
        totp?:
          | {
              /** Whether authenticator apps are second factors. */
              enabled?: boolean | null | undefined;
            }
          | null
          | undefined;
        authenticator?:
          | {
              /** Whether an authenticator is a second factor of the account whose id it is registered for. Clients need to know the state login_authenticator. */
              enabled?: boolean | null | undefined;
            }
          | null
          | undefined;
        sms?:
          | {
              /** Whether the telephone number of an account is its second factor, by a code in an SMS. It is asked for only if the account has no other. NIST SP 800-63B-4, 3.1.3.3, restricts it. */
              enabled?: boolean | null | undefined;
            }
          | null
          | undefined;
        security_keys?:
          | {
              /** Whether security keys are second factors. */
              enabled?: boolean | null | undefined;
              /** Most security keys of one account. */
              limit?: number | null | undefined;
              /** Attestation asked of security keys. */
              attestation_preference?: "none" | "indirect" | "direct" | null | undefined;
              /** Kind of authenticator that serves as a security key. */
              authenticator_attachment?: "platform" | "cross-platform" | "no_preference" | null | undefined;
              /** User verification asked of security keys. */
              user_verification?: "required" | "preferred" | "discouraged" | null | undefined;
            }
          | null
          | undefined;
      }
    | null
    | undefined;
  third_party?:
    | {
        /** Addresses that users may return to from an identity provider, besides the pages of Stile; * matches within a path segment, ** across segments. */
        allowed_redirect_urls?: string[] | null | undefined;
        /** Where browsers are sent that return from a provider with an unknown state. Default: the hosted page. */
        error_redirect_url?: string | null | undefined;
        /** How long a provider may take to answer. */
        timeout?: number | string | null | undefined;
        /** Order of the providers' buttons, by id, such as google or custom_acme. Others follow: Apple, Discord, GitHub, Google, LinkedIn, Microsoft, Facebook, then custom ones by name. */
        order?: string[] | null | undefined;
        providers?:
          | {
              apple?:
                | {
                    /** Whether users may sign in by this provider. */
                    enabled?: boolean | null | undefined;
                    /** Client id of Stile at the provider. */
                    client_id?: string | null | undefined;
                    /** Client secret of Stile at the provider. Default: none. */
                    secret?: string | null | undefined;
                    /** Value of the provider's prompt parameter. Default: none. */
                    prompt?: string | null | undefined;
                    /** Link to an account that has the same address, when both sides have verified it. */
                    allow_linking?: boolean | null | undefined;
                    /** Trust the provider for the second factor. */
                    satisfies_mfa?: boolean | null | undefined;
                    /** Apple team id; with key_id and private_key, instead of secret. Default: none. */
                    team_id?: string | null | undefined;
                    /** Id of the private key. Default: none. */
                    key_id?: string | null | undefined;
                    /** Private key (PKCS#8, PEM) that the client secret is made with. Default: none. */
                    private_key?: string | null | undefined;
                  }
                | null
                | undefined;
              discord?:
                | {
                    /** Whether users may sign in by this provider. */
                    enabled?: boolean | null | undefined;
                    /** Client id of Stile at the provider. */
                    client_id?: string | null | undefined;
                    /** Client secret of Stile at the provider. Default: none. */
                    secret?: string | null | undefined;
                    /** Value of the provider's prompt parameter. Default: none. */
                    prompt?: string | null | undefined;
                    /** Link to an account that has the same address, when both sides have verified it. */
                    allow_linking?: boolean | null | undefined;
                    /** Trust the provider for the second factor. */
                    satisfies_mfa?: boolean | null | undefined;
                  }
                | null
                | undefined;
              facebook?:
                | {
                    /** Whether users may sign in by this provider. */
                    enabled?: boolean | null | undefined;
                    /** Client id of Stile at the provider. */
                    client_id?: string | null | undefined;
                    /** Client secret of Stile at the provider. Default: none. */
                    secret?: string | null | undefined;
                    /** Value of the provider's prompt parameter. Default: none. */
                    prompt?: string | null | undefined;
                    /** Link to an account that has the same address, when both sides have verified it. */
                    allow_linking?: boolean | null | undefined;
                    /** Trust the provider for the second factor. */
                    satisfies_mfa?: boolean | null | undefined;
                  }
                | null
                | undefined;
              github?:
                | {
                    /** Whether users may sign in by this provider. */
                    enabled?: boolean | null | undefined;
                    /** Client id of Stile at the provider. */
                    client_id?: string | null | undefined;
                    /** Client secret of Stile at the provider. Default: none. */
                    secret?: string | null | undefined;
                    /** Value of the provider's prompt parameter. Default: none. */
                    prompt?: string | null | undefined;
                    /** Link to an account that has the same address, when both sides have verified it. */
                    allow_linking?: boolean | null | undefined;
                    /** Trust the provider for the second factor. */
                    satisfies_mfa?: boolean | null | undefined;
                  }
                | null
                | undefined;
              google?:
                | {
                    /** Whether users may sign in by this provider. */
                    enabled?: boolean | null | undefined;
                    /** Client id of Stile at the provider. */
                    client_id?: string | null | undefined;
                    /** Client secret of Stile at the provider. Default: none. */
                    secret?: string | null | undefined;
                    /** Value of the provider's prompt parameter. Default: none. */
                    prompt?: string | null | undefined;
                    /** Link to an account that has the same address, when both sides have verified it. */
                    allow_linking?: boolean | null | undefined;
                    /** Trust the provider for the second factor. */
                    satisfies_mfa?: boolean | null | undefined;
                  }
                | null
                | undefined;
              linkedin?:
                | {
                    /** Whether users may sign in by this provider. */
                    enabled?: boolean | null | undefined;
                    /** Client id of Stile at the provider. */
                    client_id?: string | null | undefined;
                    /** Client secret of Stile at the provider. Default: none. */
                    secret?: string | null | undefined;
                    /** Value of the provider's prompt parameter. Default: none. */
                    prompt?: string | null | undefined;
                    /** Link to an account that has the same address, when both sides have verified it. */
                    allow_linking?: boolean | null | undefined;
                    /** Trust the provider for the second factor. */
                    satisfies_mfa?: boolean | null | undefined;
                  }
                | null
                | undefined;
              microsoft?:
                | {
                    /** Whether users may sign in by this provider. */
                    enabled?: boolean | null | undefined;
                    /** Client id of Stile at the provider. */
                    client_id?: string | null | undefined;
                    /** Client secret of Stile at the provider. Default: none. */
                    secret?: string | null | undefined;
                    /** Value of the provider's prompt parameter. Default: none. */
                    prompt?: string | null | undefined;
                    /** Link to an account that has the same address, when both sides have verified it. */
                    allow_linking?: boolean | null | undefined;
                    /** Trust the provider for the second factor. */
                    satisfies_mfa?: boolean | null | undefined;
                    /** Directory: common, organizations, consumers, or a tenant id. */
                    tenant?: string | null | undefined;
                    /** Whether signing out ends the session at Microsoft too (OpenID Connect RP-Initiated Logout 1.0). */
                    rp_initiated_logout?: boolean | null | undefined;
                  }
                | null
                | undefined;
            }
          | null
          | undefined;
        /** Further OpenID Connect or OAuth 2 providers by key: enabled, display_name, client_id, secret, issuer and use_discovery or the endpoints, scopes, attribute_mapping, prompt, acr_values, allow_linking, satisfies_mfa, rp_initiated_logout and end_session_endpoint. */
        custom_providers?:
          | Record<
              string,
              {
                enabled?: boolean | null | undefined;
                display_name?: string | null | undefined;
                client_id?: string | null | undefined;
                secret?: string | null | undefined;
                issuer?: string | null | undefined;
                use_discovery?: boolean | null | undefined;
                authorization_endpoint?: string | null | undefined;
                token_endpoint?: string | null | undefined;
                userinfo_endpoint?: string | null | undefined;
                scopes?: string[] | null | undefined;
                attribute_mapping?: Record<string, string | null> | null | undefined;
                acr_values?: string | null | undefined;
                prompt?: string | null | undefined;
                allow_linking?: boolean | null | undefined;
                satisfies_mfa?: boolean | null | undefined;
                rp_initiated_logout?: boolean | null | undefined;
                end_session_endpoint?: string | null | undefined;
              } | null
            >
          | null
          | undefined;
      }
    | null
    | undefined;
  saml?:
    | {
        /** Whether users may sign in by SAML identity providers. */
        enabled?: boolean | null | undefined;
        /** Address and entity id of Stile as a SAML service provider. Default: base_url. */
        endpoint_url?: string | null | undefined;
        /** Audience of assertions. Default: endpoint_url. */
        audience_uri?: string | null | undefined;
        /** Where browsers are sent after a sign-in that the provider initiated. Default: the hosted page. */
        default_redirect_url?: string | null | undefined;
        /** Addresses that users may return to, besides the pages of Stile. */
        allowed_redirect_urls?: string[] | null | undefined;
        options?:
          | {
              /** Sign requests to providers. */
              sign_authn_requests?: boolean | null | undefined;
              /** Ask providers to authenticate users anew (ForceAuthn). */
              force_login?: boolean | null | undefined;
              /** Offer providers a certificate to encrypt assertions for. Encrypted assertions are accepted either way. */
              encrypt_assertions?: boolean | null | undefined;
            }
          | null
          | undefined;
        /** SAML providers: name, domain or domains, entity_id, metadata_url or metadata, enabled, skip_email_verification, satisfies_mfa, allow_idp_initiated, single_logout, attribute_map. Default: none. */
        identity_providers?:
          | {
              id?: string | undefined;
              name: string;
              enabled?: boolean | undefined;
              domain?: string | undefined;
              domains?: string[] | undefined;
              entity_id?: string | undefined;
              metadata_url?: string | undefined;
              metadata?: string | undefined;
              skip_email_verification?: boolean | undefined;
              satisfies_mfa?: boolean | undefined;
              allow_idp_initiated?: boolean | undefined;
              single_logout?: boolean | undefined;
              attribute_map?: Record<string, string> | undefined;
            }[]
          | null
          | undefined;
      }
    | null
    | undefined;
  openid?:
    | {
        /** Be an OpenID provider (OpenID Connect Core 1.0, OAuth 2.0) for the applications in openid.clients. */
        enabled?: boolean | null | undefined;
        /** Applications by client id: name, secret or jwks, redirect_uris, post_logout_redirect_uris, backchannel_logout_uri, frontchannel_logout_uri, grants (authorization_code, refresh_token, client_credentials, device_code, token_exchange), scopes, serves (the APIs whose access tokens it exchanges), application_type (web, native), subject_type (public, pairwise), require_par, require_dpop, claims and access_token_claims (constants, or templates over .User); first_party: false for those that are not the operator's own, whose users are asked for consent, with client_uri, policy_uri and tos_uri. */
        clients?:
          | Record<
              string,
              {
                /** Shown to users. */
                name?: string | null | undefined;
                /** Authenticates the client at the token endpoint. Default: none, a public client. */
                secret?: string | null | undefined;
                /** Public keys (RFC 7517): the client authenticates by JWTs that it signs (private_key_jwt). */
                jwks?:
                  | {
                      keys?:
                        | {
                            kty: "RSA" | "EC" | "OKP";
                            kid?: string | undefined;
                            use?: "sig" | undefined;
                            alg?: "EdDSA" | "ES256" | "PS256" | "RS256" | undefined;
                            crv?: "P-256" | "Ed25519" | undefined;
                            x?: string | undefined;
                            y?: string | undefined;
                            n?: string | undefined;
                            e?: string | undefined;
                          }[]
                        | null
                        | undefined;
                    }
                  | null
                  | undefined;
                redirect_uris?: string[] | null | undefined;
                post_logout_redirect_uris?: string[] | null | undefined;
                /** Is told when a session ends (OpenID Connect Back-Channel Logout 1.0). Default: the client is not told. */
                backchannel_logout_uri?: string | null | undefined;
                /** Is loaded in a frame where a user signs out in the browser (OpenID Connect Front-Channel Logout 1.0). Its origin is that of one of redirect_uris. Default: none is loaded. */
                frontchannel_logout_uri?: string | null | undefined;
                grants?:
                  | (
                      | "authorization_code"
                      | "refresh_token"
                      | "client_credentials"
                      | "device_code"
                      | "token_exchange"
                    )[]
                  | null
                  | undefined;
                scopes?: string[] | null | undefined;
                /** APIs of openid.resources that the client is the service of: with the grant token_exchange it exchanges access tokens that were issued for them. */
                serves?: string[] | null | undefined;
                /** A native application may listen at any port of the device, and use a scheme of its own (RFC 8252, 7). Default: web. */
                application_type?: "web" | "native" | null | undefined;
                /** The client knows users by their ids, or by others than clients on other hosts do. Default: public. */
                subject_type?: "public" | "pairwise" | null | undefined;
                require_par?: boolean | null | undefined;
                require_dpop?: boolean | null | undefined;
                /** The operator's own: its users are not asked for consent. Default: true. */
                first_party?: boolean | null | undefined;
                /** Further claims of the client's ID tokens and of UserInfo: constants, or templates, as in session.jwt_template.claims. */
                claims?: Record<string, unknown> | null | undefined;
                /** Further claims of the client's access tokens for APIs, which read them there. */
                access_token_claims?: Record<string, unknown> | null | undefined;
                /** The home page, for users. */
                client_uri?: string | null | undefined;
                /** What becomes of users' data, for users. */
                policy_uri?: string | null | undefined;
                /** The terms of service, for users. */
                tos_uri?: string | null | undefined;
              } | null
            >
          | null
          | undefined;
        /** APIs by their resource indicator (RFC 8707): scopes, with name and texts (by scope and language) for users, and token: jwt (RFC 9068) or opaque. A token for a resource is valid there alone. */
        resources?:
          | Record<
              string,
              {
                /** Shown to users in place of the address. */
                name?: string | null | undefined;
                /** What a scope allows, in plain words for users: by scope and language. */
                texts?: Record<string, Record<string, string | null> | null> | null | undefined;
                scopes?: string[] | null | undefined;
                token?: "jwt" | "opaque" | null | undefined;
              } | null
            >
          | null
          | undefined;
        /** Further scopes about users: claims from public or private metadata, in ID tokens and at UserInfo, and texts (by language) for users who are asked, as in {"groups":{"claims":{"groups":"public.groups"},"texts":{"en":"see which teams you are in"}}}. */
        scopes?:
          | Record<
              string,
              {
                /** What the scope asks for: claims, each with its place in the account's public or private metadata, as in public.groups. */
                claims?: Record<string, string | null> | null | undefined;
                /** What an application may know by the scope, in plain words for users who are asked: by language. */
                texts?: Record<string, string | null> | null | undefined;
              } | null
            >
          | null
          | undefined;
        /** Hosts whose documents describe clients that are not in openid.clients (OAuth Client ID Metadata Document): names, *.example.com for those below a name, * for all. Default: none. */
        document_hosts?: string[] | null | undefined;
        /** Let applications register themselves (RFC 7591): with one of openid.registration_tokens, or any of them. */
        registration?: "off" | "token" | "open" | null | undefined;
        /** Initial access tokens, one of which an application registers with. Several during a change. */
        registration_tokens?: string[] | null | undefined;
        /** After this time without a use, an application that has registered itself is forgotten. */
        registration_lifetime?: number | string | null | undefined;
        /** Scopes that clients which are not in openid.clients may ask their users for, those of openid.resources among them. */
        unlisted_scopes?: string[] | null | undefined;
        /** How long what a user has allowed such a client is valid. It has to ask again after it. */
        unlisted_consent_lifetime?: number | string | null | undefined;
        /** Life of an access token. */
        access_token_lifetime?: number | string | null | undefined;
        /** Life of a refresh token. Each use replaces it by one that lives as long. */
        refresh_token_lifetime?: number | string | null | undefined;
        /** Makes the names by which clients with subject_type pairwise know users (OpenID Connect Core 1.0, 8.1). Without it there are no such clients; once it is changed, they know none of their users any more. */
        pairwise_salt?: string | null | undefined;
        /** With prompt=select_account: show the accounts that have signed in with the browser, by masked names. Off: ask for a new sign-in. */
        account_choice?: boolean | null | undefined;
        /** Let clients with the grant device_code sign their users in on devices without a browser, by a code that the user enters at /device (RFC 8628). */
        device_flow?: boolean | null | undefined;
        /** How long a device waits for its user to enter its code. */
        device_code_lifetime?: number | string | null | undefined;
        /** Life of an authorization code. */
        code_lifetime?: number | string | null | undefined;
        /** How long an authorization request waits for its user to sign in. */
        request_lifetime?: number | string | null | undefined;
        /** Bind tokens to a key of the client that proves it has one (DPoP, RFC 9449). */
        dpop?: "offered" | "off" | null | undefined;
      }
    | null
    | undefined;
  webauthn?:
    | {
        relying_party?:
          | {
              /** Relying party id. Default: the host of base_url. */
              id?: string | null | undefined;
              /** Relying party name. Default: service.name. */
              display_name?: string | null | undefined;
              /** Origins that ceremonies may come from. Default: the origin of base_url. */
              origins?: string[] | null | undefined;
            }
          | null
          | undefined;
        /** Origins of other domains that may use this relying party's passkeys; listed at /.well-known/webauthn. */
        related_origins?: string[] | null | undefined;
        /** Life of a challenge, and the timeout of browsers; longer values count as 5 minutes. */
        timeout?: number | string | null | undefined;
        /** What happens when a signature counter did not increase. */
        sign_count?: "refuse" | "warn" | null | undefined;
      }
    | null
    | undefined;
  session?:
    | {
        /** Life of a session. */
        lifespan?: number | string | null | undefined;
        /** A session unused for so long ends; 0 turns this off. */
        idle_timeout?: number | string | null | undefined;
        /** Users may end their other sessions. */
        allow_revocation?: boolean | null | undefined;
        /** Show users their sessions. */
        show_on_profile?: boolean | null | undefined;
        /** Age of the last proof from which on a change of factors, addresses or the password asks for a new one; 0 turns this off. */
        step_up_after?: number | string | null | undefined;
        /** Most sessions of one account; the oldest are ended. */
        limit?: number | null | undefined;
        /** Keep the address a session was opened from. */
        acquire_ip_address?: boolean | null | undefined;
        /** Keep the browser a session was opened with. */
        acquire_user_agent?: boolean | null | undefined;
        /** Answer X-Auth-Token instead of setting the cookie. */
        enable_auth_token_header?: boolean | null | undefined;
        /** iss of the session's JWT. Default: base_url. */
        issuer?: string | null | undefined;
        /** aud of the session's JWT. Default: the relying party id. */
        audience?: string[] | null | undefined;
        /** Signs the session's JWT and the tokens of webhooks; EdDSA with Ed25519. A change makes a new key, and tokens of the former one stay valid. */
        algorithm?: "RS256" | "ES256" | "EdDSA" | null | undefined;
        jwt_template?:
          | {
              /** Further claims of the session's JWT: constants, or templates over .User in the syntax of Go, as in {"role":"user","mail":"{{.User.Email.Address}}"}. */
              claims?: Record<string, unknown> | null | undefined;
            }
          | null
          | undefined;
        device_bound?:
          | {
              /** Device-bound session credentials: browsers that can bind a session to a key of the device are asked to. required: without it a session cookie lasts for session.device_bound.lifetime. */
              mode?: "off" | "offered" | "required" | null | undefined;
              /** Life of the bound cookie, which the browser renews by a proof of the key. */
              lifetime?: number | string | null | undefined;
              /** With session.cookie.domain: the binding covers all hosts of that domain, which must be a registrable one and serve /.well-known/device-bound-sessions. Without it sessions under such a domain are not bound. */
              include_site?: boolean | null | undefined;
            }
          | null
          | undefined;
        cookie?:
          | {
              /** Name of the session cookie. */
              name?: string | null | undefined;
              /** Domain attribute of the session cookie; empty for this host alone. */
              domain?: string | null | undefined;
              /** SameSite attribute of the session cookie. */
              same_site?: "strict" | "lax" | "none" | null | undefined;
              /** Whether the cookie outlives the browser; prompt asks the user. */
              retention?: "persistent" | "session" | "prompt" | null | undefined;
            }
          | null
          | undefined;
      }
    | null
    | undefined;
  well_known?:
    | {
        security_txt?:
          | {
              /** Where vulnerabilities are reported, the preferred one first: https, mailto or tel URIs. Without one, /.well-known/security.txt does not exist. */
              contact?: string[] | null | undefined;
              /** Time from which the file is stale, less than a year ahead (RFC 9116, 2.5.5); from then on it does not exist. Without it, contact is rejected. */
              expires?: string | null | undefined;
              /** Address of the policy for reports. Without it, the file names none. */
              policy?: string | null | undefined;
              /** Where the key to encrypt reports with is. Without it, the file names none. */
              encryption?: string | null | undefined;
              /** Address of the page that thanks those who reported. Without it, the file names none. */
              acknowledgments?: string | null | undefined;
              /** Address of vacancies in security. Without it, the file names none. */
              hiring?: string | null | undefined;
              /** Languages of reports (RFC 5646). */
              preferred_languages?: string[] | null | undefined;
            }
          | null
          | undefined;
        /** Applications for iOS and macOS that may use passkeys and passwords of this host, by team and bundle: A1B2C3D4E5.com.example.app. Without one, /.well-known/apple-app-site-association does not exist. */
        apple_apps?: string[] | null | undefined;
        /** Applications for Android that may use passkeys and passwords of this host: package_name and sha256_cert_fingerprints of their signing keys; with opens_links they also open its addresses. Their passkey ceremonies are accepted. Without one, /.well-known/assetlinks.json does not exist. */
        android_apps?:
          | {
              package_name: string;
              sha256_cert_fingerprints: string[];
              opens_links?: boolean | undefined;
            }[]
          | null
          | undefined;
      }
    | null
    | undefined;
  passkey_server?:
    | {
        relying_party?:
          | {
              /** Relying party id of the passkey server. Default: webauthn.relying_party.id. */
              id?: string | null | undefined;
              /** Relying party name. Default: webauthn.relying_party.display_name. */
              display_name?: string | null | undefined;
              /** Relying party icon. Default: none. */
              icon?: string | null | undefined;
              /** Origins that ceremonies may come from, android:apk-key-hash: ones included. Default: webauthn.relying_party.origins. */
              origins?: string[] | null | undefined;
            }
          | null
          | undefined;
        cors?:
          | {
              /** Origins whose pages may call the passkey server, with * for one label or more, as in https://*.example.com. Default: the relying party's origins. */
              allowed_origins?: string[] | null | undefined;
              /** Let * alone stand for every origin. */
              allow_unsafe_wildcard?: boolean | null | undefined;
            }
          | null
          | undefined;
        /** Life of a challenge, and the timeout of browsers. */
        timeout?: number | string | null | undefined;
        /** User verification asked of passkeys. */
        user_verification?: "required" | "preferred" | "discouraged" | null | undefined;
        /** Kind of authenticator asked for. */
        attachment?: "platform" | "cross-platform" | "no_preference" | null | undefined;
        /** Attestation asked of passkeys. */
        attestation_preference?: "none" | "indirect" | "direct" | "enterprise" | null | undefined;
        /** Authenticator models whose attestation is verified: aaguid (all zeros for FIDO U2F), name, roots (certificates in PEM). An entry replaces that of webauthn.metadata_file for the same model. */
        attestation_models?:
          | {
              aaguid: string;
              name?: string | undefined;
              roots: string[];
            }[]
          | null
          | undefined;
        /** Reject credentials whose attestation is not verified by attestation_models or webauthn.metadata_file. */
        attestation_required?: boolean | null | undefined;
        /** Whether passkeys are discoverable. */
        resident_key_requirement?: "discouraged" | "preferred" | "required" | null | undefined;
        /** Tell browsers by which transports credentials are reached; some platforms start the wrong authenticator then. */
        send_transports?: boolean | null | undefined;
        /** How long the page that asks about a transaction may be answered. */
        confirmation_ttl?: number | string | null | undefined;
        transaction?:
          | {
              /** User verification asked of transactions. Default: their options do not name it, so browsers prefer it, and the response must meet passkey_server.user_verification. */
              user_verification?: "required" | "preferred" | "discouraged" | null | undefined;
            }
          | null
          | undefined;
        mfa?:
          | {
              /** Life of a challenge for a second factor. Default: passkey_server.timeout. */
              timeout?: number | string | null | undefined;
              /** User verification asked of second factors. */
              user_verification?: "required" | "preferred" | "discouraged" | null | undefined;
              /** Kind of authenticator asked for as second factor. */
              attachment?: "platform" | "cross-platform" | "no_preference" | null | undefined;
              /** Attestation asked of second factors. */
              attestation_preference?: "none" | "indirect" | "direct" | "enterprise" | null | undefined;
              /** Whether second factors are discoverable. */
              resident_key_requirement?: "discouraged" | "preferred" | "required" | null | undefined;
            }
          | null
          | undefined;
      }
    | null
    | undefined;
  authenticator?:
    | {
        /** Name that authenticators show. Default: service.name. */
        name?: string | null | undefined;
        /** Icon that authenticators show. Default: none. */
        icon?: string | null | undefined;
        /** FIDO AppID. Default: the address of the list of facets, <base_url>/authenticator/facets. */
        app_id?: string | null | undefined;
        /** Facets that may act for the AppID beside our own origin: https origins, android:apk-key-hash:…, ios:bundle-id:…. */
        facets?: string[] | null | undefined;
        /** How long a request may be answered. */
        request_ttl?: number | string | null | undefined;
        /** Authenticators that may register: aaid, name, algorithms, key_formats, attestation (surrogate or full), roots, version, revoked, max_transaction_bytes (longest text to confirm in UTF-8, 1 to 4096, default 150). */
        accepted?:
          | {
              aaid: string;
              name?: string | undefined;
              algorithms?: number[] | undefined;
              key_formats?: number[] | undefined;
              attestation?: "surrogate" | "full" | undefined;
              roots?: string[] | undefined;
              version?: number | undefined;
              revoked?: boolean | undefined;
              max_transaction_bytes?: number | undefined;
            }[]
          | null
          | undefined;
        /** Reject signatures and key ids that deviate slightly from the standard, as old authenticators make them. */
        strict?: boolean | null | undefined;
        /** Responses that are bound to a TLS connection (UAF ChannelBinding): refuse rejects them; verify rejects those that name another server than tls_certificates; require also rejects those that name no server. */
        channel_binding?: "refuse" | "verify" | "require" | null | undefined;
        /** Certificates in PEM of the TLS server that authenticators send responses to; the old and the new one while it is replaced. Used by channel_binding. */
        tls_certificates?: string[] | null | undefined;
        /** Content of QR codes; {url}, {id} and {token} are replaced by those of the request. */
        qr_code_template?: string | null | undefined;
        /** Address that receives new requests with the push tokens of the user's devices. Default: none. */
        push_url?: string | null | undefined;
        /** Secret that signs requests to push_url (Standard Webhooks). Default: none. */
        push_secret?: string | null | undefined;
      }
    | null
    | undefined;
  theme?:
    | {
        /** The finished theme that the other settings change. */
        preset?: "stile" | "slate" | "paper" | null | undefined;
        /** auto follows the visitor's system. */
        color_scheme?: "auto" | "light" | "dark" | null | undefined;
        light?:
          | {
              /** Colour of buttons, links and focus rings in the light scheme. Default: that of the preset. */
              accent?: string | null | undefined;
              /** Colour of the page in the light scheme. Default: that of the preset. */
              ground?: string | null | undefined;
              /** Colour of the card in the light scheme. Default: that of the preset. */
              surface?: string | null | undefined;
              /** Colour of texts in the light scheme. Default: that of the preset. */
              ink?: string | null | undefined;
            }
          | null
          | undefined;
        dark?:
          | {
              /** Colour of buttons, links and focus rings in the dark scheme. Default: that of the preset. */
              accent?: string | null | undefined;
              /** Colour of the page in the dark scheme. Default: that of the preset. */
              ground?: string | null | undefined;
              /** Colour of the card in the dark scheme. Default: that of the preset. */
              surface?: string | null | undefined;
              /** Colour of texts in the dark scheme. Default: that of the preset. */
              ink?: string | null | undefined;
            }
          | null
          | undefined;
        /** Rounding of buttons and fields, in CSS pixels; the card is rounded accordingly. Default: that of the preset. */
        radius?: number | null | undefined;
        /** Family of fonts; each is a list of fonts that systems have, so nothing is downloaded. Default: that of the preset. */
        font?: "system" | "humanist" | "geometric" | "serif" | "rounded" | "mono" | null | undefined;
        /** Height of controls and space between them. */
        density?: "comfortable" | "compact" | null | undefined;
        logo?:
          | {
              /** Logo in the light scheme. Without one, pages show our mark and the name of the service. */
              light?: string | null | undefined;
              /** Logo in the dark scheme. Default: that of the light one. */
              dark?: string | null | undefined;
            }
          | null
          | undefined;
        /** Icon of the browser's tab. Default: our mark. */
        favicon?: string | null | undefined;
      }
    | null
    | undefined;
  links?:
    | {
        /** Address of the terms of service. Without one, pages do not link to any. */
        terms?: string | null | undefined;
        /** Address of the privacy policy. Without one, pages do not link to any. */
        privacy?: string | null | undefined;
        /** Address of the help. Without one, pages do not link to any. */
        help?: string | null | undefined;
      }
    | null
    | undefined;
  /** Texts of pages and mails in place of ours, by language and path, such as `{"en":{"states.login_init.title":"Welcome to Acme"}}`. A text keeps the placeholders of ours. */
  words?: Record<string, Record<string, string | null> | null> | null | undefined;
  hosted?:
    | {
        /** Addresses the hosted page may return to; * matches within a path segment, ** across segments; a query has to be in the entry. */
        allowed_redirect_urls?: string[] | null | undefined;
      }
    | null
    | undefined;
  security_notifications?:
    | {
        notifications?:
          | {
              email_create?:
                | {
                    /** Mail the owner when an address or a phone number was added. */
                    enabled?: boolean | null | undefined;
                  }
                | null
                | undefined;
              email_delete?:
                | {
                    /** Mail the owner when an address or the phone number was removed. */
                    enabled?: boolean | null | undefined;
                  }
                | null
                | undefined;
              primary_email_update?:
                | {
                    /** Mail the owner when another address became the primary one. */
                    enabled?: boolean | null | undefined;
                  }
                | null
                | undefined;
              password_update?:
                | {
                    /** Mail the owner when the password was changed or removed. */
                    enabled?: boolean | null | undefined;
                  }
                | null
                | undefined;
              passkey_create?:
                | {
                    /** Mail the owner when a passkey was added or removed, or an identity provider connected. */
                    enabled?: boolean | null | undefined;
                  }
                | null
                | undefined;
              mfa_create?:
                | {
                    /** Mail the owner when a second factor was added. */
                    enabled?: boolean | null | undefined;
                  }
                | null
                | undefined;
              mfa_delete?:
                | {
                    /** Mail the owner when a second factor was removed, or a recovery code used. */
                    enabled?: boolean | null | undefined;
                  }
                | null
                | undefined;
              account_delete?:
                | {
                    /** Mail the owner when the account was deleted. */
                    enabled?: boolean | null | undefined;
                  }
                | null
                | undefined;
              new_browser?:
                | {
                    /** Mail the owner when the account was signed in to in a browser that it has not used before: one without the sealed cookie that a sign-in leaves for a year. A client that keeps no cookies is new each time. */
                    enabled?: boolean | null | undefined;
                  }
                | null
                | undefined;
            }
          | null
          | undefined;
      }
    | null
    | undefined;
  webhooks?:
    | {
        /** Deliver events to webhooks.hooks. Webhooks stored by /admin/webhooks are independent of it. */
        enabled?: boolean | null | undefined;
        /** Webhooks of the configuration: callback, events, secret (whsec_ and base64; without one, deliveries carry no webhook-signature). Example: [{"callback":"https://app.example.com/events","events":["user"]}]. */
        hooks?:
          | {
              callback: string;
              events: (
                | "user.create"
                | "user.delete"
                | "user.login"
                | "user.impersonate"
                | "user.update"
                | "user.update.email.create"
                | "user.update.email.delete"
                | "user.update.email.primary"
                | "user.update.username.create"
                | "user.update.username.delete"
                | "user.update.username.update"
                | "user.update.password.update"
                | "user.update.phone.create"
                | "user.update.phone.delete"
                | "session.create.flow"
                | "session.create.admin"
                | "session.binding.create"
                | "session.binding.rejected"
                | "session.delete.explicit.logout"
                | "session.delete.explicit.revoke"
                | "session.delete.admin.revoke"
                | "session.delete.passive.expire"
                | "session.delete.passive.limit"
                | "oauth.grant.create"
                | "oauth.grant.revoke"
                | "oauth.token.refused"
                | "email.send"
                | "sms.send"
                | "user"
                | "user.update.email"
                | "user.update.username"
                | "user.update.password"
                | "user.update.phone"
                | "session"
                | "session.create"
                | "session.binding"
                | "session.delete"
                | "session.delete.explicit"
                | "session.delete.admin"
                | "session.delete.passive"
                | "oauth"
                | "oauth.grant"
                | "oauth.token"
              )[];
              secret?: string | undefined;
            }[]
          | null
          | undefined;
        /** Whether a stored webhook gets no more events 30 days after its last successful delivery. */
        allow_time_expiration?: boolean | null | undefined;
      }
    | null
    | undefined;
  recorder?:
    | {
        /** Whether each step of a flow is recorded, without the values that users enter: what was performed, what was offered, and why the rest was not. */
        enabled?: boolean | null | undefined;
        /** How long what is recorded from now on is kept. */
        retention?: number | string | null | undefined;
      }
    | null
    | undefined;
  email_delivery?:
    | {
        /** Send mails. If not, each goes to the webhooks that are subscribed to email.send, and they have to send it. */
        enabled?: boolean | null | undefined;
        /** Sender's address of mails. */
        from_address?: string | null | undefined;
        /** Sender's name of mails. Default: service.name. */
        from_name?: string | null | undefined;
      }
    | null
    | undefined;
  sms_delivery?:
    | {
        /** Send SMS. If not, each goes to the webhooks that are subscribed to sms.send, and they have to send it. */
        enabled?: boolean | null | undefined;
        /** Service that sends SMS: Twilio, or another with its Messages resource. https, or http on the same machine. */
        url?: string | null | undefined;
        /** Account at that service. Without one, development keeps SMS in the local mailbox page. */
        account_sid?: string | null | undefined;
        /** Password of that account. Default: none. */
        auth_token?: string | null | undefined;
        /** Sender of SMS: a number (E.164), a short code, or a name where the country has those. Default: none. */
        from?: string | null | undefined;
        /** Messaging service that chooses the sender, in place of from. Default: none. */
        messaging_service_sid?: string | null | undefined;
        /** How long the service may take to accept an SMS. */
        timeout?: number | string | null | undefined;
      }
    | null
    | undefined;
};
export type UserApplication = {
  /** The client id. */
  id: string;
  name: string | null;
  /** Null if nothing is known of the application any more. */
  origin: "listed" | "document" | "registration" | null;
  /** What the user has allowed; null for the operator's own clients, which need no consent. */
  consent: {
    scopes: string[];
    /** Claims that were asked for by name (OpenID Connect Core, 5.5). */
    claims: string[];
    /** Scopes of APIs by resource indicator. */
    resources: Record<string, string[]>;
    /** When the application has to ask again; null: never. */
    expires_at: string | null;
  } | null;
  /** When the user has allowed it, or signed in to it first. */
  since: string;
  /** Access tokens that are accepted. */
  access_tokens: number;
  /** Refresh tokens that are accepted. */
  refresh_tokens: number;
};

/** The data of each event. */
export interface EventData {
  "user.create": UserEventData;
  "user.delete": UserEventData;
  "user.login": UserEventData;
  "user.impersonate": UserEventData;
  "user.update": UserEventData;
  "user.update.email.create": UserEventData;
  "user.update.email.delete": UserEventData;
  "user.update.email.primary": UserEventData;
  "user.update.username.create": UserEventData;
  "user.update.username.update": UserEventData;
  "user.update.username.delete": UserEventData;
  "user.update.password.update": UserEventData;
  "user.update.phone.create": UserEventData;
  "user.update.phone.delete": UserEventData;
  "email.send": MailEventData;
  "sms.send": SmsEventData;
  "oauth.grant.create": GrantEventData;
  "oauth.grant.revoke": GrantEventData;
  "oauth.token.refused": TokenEventData;
  "session.create.flow": SessionObject;
  "session.create.admin": SessionObject;
  "session.binding.create": SessionObject;
  "session.binding.rejected": SessionObject;
  "session.delete.explicit.logout": SessionObject;
  "session.delete.explicit.revoke": SessionObject;
  "session.delete.admin.revoke": SessionObject;
  "session.delete.passive.expire": SessionObject;
  "session.delete.passive.limit": SessionObject;
}

/** Input and answer of each operation of the administration interface. */
export interface AdminOperations {
  /** List users by the time of their creation or of their last sign-in. All conditions must hold. A search or filter finds 10,000 users at most. `page` counts from the first user, and takes the longer the further it is; with `after` the link to the next page continues after the last user of this one, at the same cost everywhere. */
  listUsers: {
    input: {
      query?: {
        /** Page of the list, from 1. */
        page?: number | undefined;
        /** Items on a page. */
        per_page?: number | undefined;
        /** An id, phone number or identifier at a provider in full, or the beginning of an email, a username, a name or a family name. An index serves it, in contrast to the searches by a part. */
        q?: string | undefined;
        /** A part of an email. */
        email?: string | undefined;
        /** A part of the username. */
        username?: string | undefined;
        /** A part of the name. */
        name?: string | undefined;
        /** The phone number, in the international form. */
        phone_number?: string | undefined;
        /** Ids, repeated or separated by commas. */
        user_id?: string[] | undefined;
        /** Users linked to this identity provider, as `provider_name` of identities. */
        provider?: string | undefined;
        /** The identifier of the user at a provider, as `provider_id` of identities. */
        provider_subject?: string | undefined;
        blocked?: boolean | undefined;
        /** Whether an email of the user is verified. */
        verified?: boolean | undefined;
        /** Methods that the user has, all of them. */
        method?:
          | (
              | "password"
              | "passcode"
              | "sms"
              | "passkey"
              | "third_party"
              | "totp"
              | "security_key"
              | "authenticator"
              | "recovery_code"
            )[]
          | undefined;
        /** Only users created later. */
        created_after?: string | undefined;
        /** Only users created earlier. */
        created_before?: string | undefined;
        /** Only users whose last sign-in was later. */
        last_sign_in_after?: string | undefined;
        /** Only users whose last sign-in was earlier. */
        last_sign_in_before?: string | undefined;
        /** Users who have not signed in are the earliest. */
        sort_by?: "created_at" | "last_sign_in_at" | undefined;
        sort_direction?: "asc" | "desc" | undefined;
        /** Empty for the first page; others are taken from `Link`. `page` does not count then. */
        after?: string | undefined;
      };
    };
    answer: { items: User[]; total: number };
  };
  /** Create a user. With `emails`, of which exactly one has `is_primary`, or with `username`, or both. */
  createUser: {
    input: {
      body?: {
        id?: string | undefined;
        emails?:
          | {
              address: string;
              is_primary?: boolean | undefined;
              is_verified?: boolean | undefined;
            }[]
          | undefined;
        username?: string | undefined;
        /** When the user was created elsewhere. */
        created_at?: string | undefined;
      };
    };
    answer: User;
  };
  /** Export users as lines of JSON or as CSV, the oldest first. Those that a list with the same conditions has, without its bound, and who were created before the request. Hashes and secrets are not among what is exported: `stile users export` has them. In CSV a cell that begins with `=`, `+`, `-` or `@` gets an apostrophe in front, so that no program computes it; each export has an entry in the audit log. An answer that breaks off is incomplete. */
  exportUsers: {
    input: {
      query?: {
        /** An id, phone number or identifier at a provider in full, or the beginning of an email, a username, a name or a family name. An index serves it, in contrast to the searches by a part. */
        q?: string | undefined;
        /** A part of an email. */
        email?: string | undefined;
        /** A part of the username. */
        username?: string | undefined;
        /** A part of the name. */
        name?: string | undefined;
        /** The phone number, in the international form. */
        phone_number?: string | undefined;
        /** Ids, repeated or separated by commas. */
        user_id?: string[] | undefined;
        /** Users linked to this identity provider, as `provider_name` of identities. */
        provider?: string | undefined;
        /** The identifier of the user at a provider, as `provider_id` of identities. */
        provider_subject?: string | undefined;
        blocked?: boolean | undefined;
        /** Whether an email of the user is verified. */
        verified?: boolean | undefined;
        /** Methods that the user has, all of them. */
        method?:
          | (
              | "password"
              | "passcode"
              | "sms"
              | "passkey"
              | "third_party"
              | "totp"
              | "security_key"
              | "authenticator"
              | "recovery_code"
            )[]
          | undefined;
        /** Only users created later. */
        created_after?: string | undefined;
        /** Only users created earlier. */
        created_before?: string | undefined;
        /** Only users whose last sign-in was later. */
        last_sign_in_after?: string | undefined;
        /** Only users whose last sign-in was earlier. */
        last_sign_in_before?: string | undefined;
        format?: "jsonl" | "csv" | undefined;
      };
    };
    answer: string;
  };
  /** Block, unblock, sign out or delete several users. At most 500. Each is changed by itself, as by the operation on one user, and has its own entry in the audit log: what one of them does not allow does not keep the others from it. An id that occurs again counts once. */
  actOnUsers: {
    input: {
      body: {
        action: "block" | "unblock" | "end_sessions" | "delete";
        user_ids: string[];
      };
    };
    answer: {
      results: {
        user_id: string;
        /** That of the operation on this user: 200, 404, or 503 if an error kept it from being done. */
        status: number;
        /** Why the user was not changed. */
        message?: string | undefined;
      }[];
    };
  };
  /** Get a user. */
  getUser: {
    input: { id: string };
    answer: User;
  };
  /** Change the profile of a user. A text sets a field, null clears it, and an absent field stays. */
  updateUser: {
    input: {
      id: string;
      body?: {
        username?: string | null | undefined;
        name?: string | null | undefined;
        given_name?: string | null | undefined;
        family_name?: string | null | undefined;
        /** Address of a picture. It replaces one that the user uploaded. */
        picture?: string | null | undefined;
        /** Of mails. The next sign-in that names one replaces it. */
        language?: "de" | "en" | "fr" | "it" | "nl" | "pt-BR" | "bn" | "zh" | null | undefined;
      };
    };
    answer: User;
  };
  /** Delete a user. With everything that belongs to it, its sessions first of all. */
  deleteUser: {
    input: { id: string };
    answer: undefined;
  };
  /** Find out why a user cannot sign in. Each method with which the service lets users sign in, whether this user can use it, and what has decided that: the settings of the tenant, and what the account has. */
  listUserLoginMethods: {
    input: { id: string };
    answer: {
      /** Whether a first factor is usable. */
      can_sign_in: boolean;
      methods: {
        method:
          | "password"
          | "passcode"
          | "sms"
          | "passkey"
          | "third_party"
          | "totp"
          | "security_key"
          | "authenticator"
          | "recovery_code";
        used_as: "first_factor" | "second_factor";
        /** By the account and the configuration; what the browser can do is not known. */
        usable: boolean;
        /** What has decided that. */
        reasons: {
          kind: "setting" | "fact" | "capability" | "flow" | "circumstance";
          /** The path of a setting, or the name of what is known of the account. */
          of: string;
          sentence: string;
        }[];
      }[];
    };
  };
  /** Find out what the deletion of a user takes. */
  previewUserDeletion: {
    input: { id: string };
    answer: {
      /** Rows that go, by table. Tables without one are absent. */
      rows: Record<string, number>;
      /** What may be left of the account, by table. */
      remains: Record<string, string>;
    };
  };
  /** Mail a user where to sign in again. By a mailed code, or with a new password. The mail has neither: the user asks for a code on the page, so that it belongs to the user's browser. It goes to the verified primary email, three times in an hour at most. */
  offerUserRecovery: {
    input: { id: string };
    answer: undefined;
  };
  /** Block a user. Ends the user's sessions, trusted browsers and unfinished sign-ins at once. A blocked user gets no session by any login method; the credentials stay. A second call changes nothing. */
  blockUser: {
    input: { id: string };
    answer: User;
  };
  /** End the block of a user. The user can sign in again. A second call changes nothing. */
  unblockUser: {
    input: { id: string };
    answer: User;
  };
  /** List what happened to a user, newest first. Sign-ins, changes, mails, SMS and sessions from the audit log, live sessions, and events that webhooks were told of. It reaches back as far as `audit_log.retention` and `webhooks.retention`. */
  getUserTimeline: {
    input: {
      id: string;
      query?: {
        /** What is listed. Default: everything. */
        kind?: ("sign_in" | "failure" | "change" | "mail" | "sms" | "session" | "event")[] | undefined;
        limit?: number | undefined;
        /** `next` of the page before. */
        after?: string | undefined;
      };
    };
    answer: {
      happenings: Happening[];
      /** `after` of the next page; null for the last one. */
      next: string | null;
    };
  };
  /** List the emails of a user, the primary one first. */
  listUserEmails: {
    input: { id: string };
    answer: UserEmail[];
  };
  /** Add an email to a user. The first email of a user becomes the primary one, whatever `is_primary` says. */
  createUserEmail: {
    input: {
      id: string;
      body: {
        address: string;
        /** Ignored. */
        is_primary?: boolean | undefined;
        is_verified?: boolean | undefined;
      };
    };
    answer: UserEmail;
  };
  /** Get an email of a user. */
  getUserEmail: {
    input: { id: string; email_id: string };
    answer: UserEmail;
  };
  /** Remove an email of a user. */
  deleteUserEmail: {
    input: { id: string; email_id: string };
    answer: undefined;
  };
  /** Make an email the primary one of its user. */
  setPrimaryUserEmail: {
    input: { id: string; email_id: string };
    answer: undefined;
  };
  /** Mark an email of a user as verified. As if the user had entered a code that was sent to it. A second call has no effect. */
  verifyUserEmail: {
    input: { id: string; email_id: string };
    answer: undefined;
  };
  /** Get the username of a user. */
  getUsername: {
    input: { id: string };
    answer: Username;
  };
  /** Set the username of a user. */
  setUsername: {
    input: {
      id: string;
      body: {
        username: string;
      };
    };
    answer: Username;
  };
  /** Remove the username of a user. */
  deleteUsername: {
    input: { id: string };
    answer: undefined;
  };
  /** Get the phone number of a user. */
  getPhoneNumber: {
    input: { id: string };
    answer: UserPhoneNumber;
  };
  /** Set the phone number of a user. A mobile number of a country in `phone.allowed_countries`. A number that is not verified is confirmed by the first code that its owner enters, which ends the credentials that were set before. */
  setPhoneNumber: {
    input: {
      id: string;
      body: {
        phone_number: string;
        phone_number_verified?: boolean | undefined;
      };
    };
    answer: UserPhoneNumber;
  };
  /** Remove the phone number of a user. Ends the user's trusted browsers and unfinished sign-ins. */
  deletePhoneNumber: {
    input: { id: string };
    answer: undefined;
  };
  /** Get the metadata of a user. */
  getUserMetadata: {
    input: { id: string };
    answer: UserMetadata | undefined;
  };
  /** Change the metadata of a user. An object patches the kinds that it names; null clears all of them. */
  patchUserMetadata: {
    input: {
      id: string;
      body?: {
        /** A JSON Merge Patch (RFC 7396) of this kind, at most 3000 characters after it; null clears it. */
        public_metadata?: Record<string, unknown> | null | undefined;
        /** A JSON Merge Patch (RFC 7396) of this kind, at most 3000 characters after it; null clears it. */
        private_metadata?: Record<string, unknown> | null | undefined;
        /** A JSON Merge Patch (RFC 7396) of this kind, at most 3000 characters after it; null clears it. */
        unsafe_metadata?: Record<string, unknown> | null | undefined;
      } | null;
    };
    answer: UserMetadata | undefined;
  };
  /** List the passkeys and security keys of a user, oldest first. */
  listUserCredentials: {
    input: { id: string };
    answer: UserCredential[];
  };
  /** Get a passkey or security key of a user. */
  getUserCredential: {
    input: { id: string; credential_id: string };
    answer: UserCredential;
  };
  /** Rename a passkey or security key of a user. */
  renameUserCredential: {
    input: {
      id: string;
      credential_id: string;
      body: {
        name: string;
      };
    };
    answer: UserCredential;
  };
  /** Remove a passkey or security key of a user. */
  deleteUserCredential: {
    input: { id: string; credential_id: string };
    answer: undefined;
  };
  /** List the identities of a user at identity providers, oldest first. */
  listUserIdentities: {
    input: { id: string };
    answer: UserIdentity[];
  };
  /** Disconnect an identity of a user. */
  deleteUserIdentity: {
    input: { id: string; identity_id: string };
    answer: undefined;
  };
  /** Get whether a user has a password. */
  getUserPassword: {
    input: { id: string };
    answer: UserPassword;
  };
  /** Set the password of a user who has none. */
  createUserPassword: {
    input: {
      id: string;
      body: {
        /** At most `password.max_length` characters. No other rule applies: operators carry passwords over. */
        password: string;
      };
    };
    answer: UserPassword;
  };
  /** Replace the password of a user. Ends unfinished sign-ins and the trust in browsers. Sessions stay. */
  updateUserPassword: {
    input: {
      id: string;
      body: {
        /** At most `password.max_length` characters. No other rule applies: operators carry passwords over. */
        password: string;
      };
    };
    answer: UserPassword;
  };
  /** Remove the password of a user. */
  deleteUserPassword: {
    input: { id: string };
    answer: undefined;
  };
  /** Get whether a user has an authenticator app. */
  getUserOtp: {
    input: { id: string };
    answer: UserOtp;
  };
  /** Remove the authenticator app of a user. Ends unfinished sign-ins and the trust in browsers; with the last second factor, the recovery codes too. */
  deleteUserOtp: {
    input: { id: string };
    answer: undefined;
  };
  /** Count the unused recovery codes of a user. */
  countUserRecoveryCodes: {
    input: { id: string };
    answer: {
      remaining: number;
    };
  };
  /** Replace the recovery codes of a user. The codes are in this answer alone. */
  replaceUserRecoveryCodes: {
    input: { id: string };
    answer: {
      recovery_codes: string[];
    };
  };
  /** Remove the recovery codes of a user. */
  deleteUserRecoveryCodes: {
    input: { id: string };
    answer: undefined;
  };
  /** List the browsers that skip the second factor of a user, newest first. */
  listUserTrustedBrowsers: {
    input: { id: string };
    answer: {
      /** Changes with each use. */
      id: string;
      /** When trust was granted or last used. */
      last_used_at: string;
      expires_at: string;
    }[];
  };
  /** End the trust in all browsers of a user. */
  deleteUserTrustedBrowsers: {
    input: { id: string };
    answer: undefined;
  };
  /** End the trust in a browser of a user. */
  deleteUserTrustedBrowser: {
    input: { id: string; browser_id: string };
    answer: undefined;
  };
  /** List the phones that answer authenticator requests of a user, oldest first. */
  listUserPhones: {
    input: { id: string };
    answer: {
      id: string;
      name: string;
      /** Model of the authenticator (FIDO UAF). */
      aaid: string;
      is_second_factor_only: boolean;
      os?: string | undefined;
      os_version?: string | undefined;
      manufacturer?: string | undefined;
      model?: string | undefined;
      created_at: string;
      last_used_at: string;
    }[];
  };
  /** Remove a phone of a user. */
  deleteUserPhone: {
    input: { id: string; phone_id: string };
    answer: undefined;
  };
  /** List the applications that have access to an account by OpenID Connect, newest first. */
  listUserApplications: {
    input: {
      id: string;
      query?: {
        /** Page of the list, from 1. */
        page?: number | undefined;
        /** Items on a page. */
        per_page?: number | undefined;
      };
    };
    answer: { items: UserApplication[]; total: number };
  };
  /** End the access of an application to an account, with its codes and tokens. The next request of the application asks for consent as its first one did. */
  endUserApplication: {
    input: { id: string; client_id: string };
    answer: undefined;
  };
  /** List the accounts that have a role of the console, oldest first. Without those that the configuration gives a role (`console.roles`). */
  listConsoleRoles: {
    input: Record<never, never>;
    answer: {
      user_id: string;
      /** The primary address. */
      email: string | null;
      /** `auditor`: Reads everything of its tenant. `support`: Reads, ends sessions, unblocks users and sends recovery mails. `administrator`: Does everything in its tenant. `operator`: Does everything in every tenant. */
      role: "auditor" | "support" | "administrator" | "operator";
      created_at: string;
    }[];
  };
  /** Give an account a role of the console. */
  setConsoleRole: {
    input: {
      id: string;
      body: {
        /** `auditor`: Reads everything of its tenant. `support`: Reads, ends sessions, unblocks users and sends recovery mails. `administrator`: Does everything in its tenant. `operator`: Does everything in every tenant. */
        role: "auditor" | "support" | "administrator" | "operator";
      };
    };
    answer: undefined;
  };
  /** Take the role of the console from an account. It is out of the console at once. */
  deleteConsoleRole: {
    input: { id: string };
    answer: undefined;
  };
  /** Begin to upload a file of users. A file of users of another system, or of `stile users export`, has at most 4194304 bytes; `stile users import` takes longer ones. It is sent in pieces, then checked or imported by a job that goes on after a restart. An upload that is not started within a day has to begin anew. */
  beginImport: {
    input: {
      body?: {
        /** Recognized by the first record if it is absent. */
        format?: "firebase" | "clerk" | "supabase" | "auth0" | "hanko" | "stile" | undefined;
        /** Names of identity providers here, by their names in the file. */
        providers?: Record<string, string> | undefined;
        /** Emit `user.create` for each user. */
        emit_events?: boolean | undefined;
      };
    };
    answer: UserImport;
  };
  /** List uploaded files of users, newest first. */
  listImports: {
    input: {
      query?: {
        /** Page of the list, from 1. */
        page?: number | undefined;
        /** Items on a page. */
        per_page?: number | undefined;
      };
    };
    answer: { items: UserImport[]; total: number };
  };
  /** Find out how far an import is. */
  getImport: {
    input: { id: string };
    answer: UserImport;
  };
  /** Cancel an import. What was imported stays; the file is deleted. A second call has no effect. */
  cancelImport: {
    input: { id: string };
    answer: UserImport;
  };
  /** Send a piece of a file. Pieces are numbered from 1 and sent in their order. A file can be cut anywhere between two characters. A piece that is sent again with the same content has no effect: after a lost connection, continue with the number after `pieces`. */
  putImportPiece: {
    input: {
      id: string;
      number: string;
      body: {
        data: string;
      };
    };
    answer: UserImport;
  };
  /** Check or import a file whose pieces are all there. A check tells what would be refused, and writes no user. A file that was checked can be imported without sending it again. Each user is imported completely, or refused and reported; existing accounts are never changed. A second call has no effect. */
  startImport: {
    input: {
      id: string;
      body: {
        check?: boolean | undefined;
        /** Number of pieces of the whole file. */
        pieces: number;
      };
    };
    answer: UserImport;
  };
  /** Download the refused records of an import as lines of JSON. Each line has `line`, `record`, `reason` and, if the record has one, the `id` at its source. */
  listImportRefusals: {
    input: { id: string };
    answer: string;
  };
  /** List the refused records of an import, in their order. */
  listRefusedRecords: {
    input: {
      id: string;
      query?: {
        /** Page of the list, from 1. */
        page?: number | undefined;
        /** Items on a page. */
        per_page?: number | undefined;
      };
    };
    answer: { items: RefusedRecord[]; total: number };
  };
  /** Create a session of a user. Ends the oldest sessions beyond `session.limit`, as a login does. The user has proved nothing, so that a change of the account asks for a proof. For API keys alone: an account of the console signs in as a user by `POST /admin/users/{id}/impersonations`. */
  createSession: {
    input: {
      body: {
        user_id: string;
        /** What the session shows of its browser. */
        user_agent?: string | undefined;
        ip_address?: string | string | undefined;
      };
    };
    answer: {
      /** Signed JWT. */
      session_token: string;
    };
  };
  /** Sign in as a user, to see what the user sees. For accounts of the console with the role `administrator` or `operator`, not for API keys. Not of a user with a role of the console. Nothing changes before the address is opened in the browser that is signed in to the console, and confirmed there. The session bears the account and the reason, changes nothing of how the user signs in, and ends with the session of the console. */
  impersonateUser: {
    input: {
      id: string;
      body: {
        /** Why. The owner of the account reads it too. */
        reason: string;
        /** Seconds. Default: `console.impersonation.lifetime`. */
        lifetime?: number | undefined;
      };
    };
    answer: {
      /** Valid once, for a minute, in the browser of the console. */
      url: string;
      /** Seconds for which the session lasts. */
      lifetime: number;
    };
  };
  /** List the live sessions of a user, newest first. */
  listUserSessions: {
    input: { id: string };
    answer: SessionObject[];
  };
  /** End all sessions of a user. Their tokens are invalid at once, and unfinished sign-ins end too. */
  endUserSessions: {
    input: { id: string };
    answer: undefined;
  };
  /** End a session of a user. Its token is invalid at once. */
  endUserSession: {
    input: { id: string; session_id: string };
    answer: undefined;
  };
  /** List entries of the audit log, newest first. Email addresses, usernames and IP addresses are masked as `audit_log` of the settings says. */
  listAuditLogs: {
    input: {
      query?: {
        /** Page of the list, from 1. */
        page?: number | undefined;
        /** Items on a page. */
        per_page?: number | undefined;
        /** Only later entries. */
        start_time?: string | undefined;
        /** Only earlier entries. */
        end_time?: string | undefined;
        /** Types of entries, repeated or separated by commas. */
        type?: AuditType[] | undefined;
        /** The id of a user, or a part of it. */
        actor_user_id?: string | undefined;
        /** The email address of an account, or a part of it. */
        actor_email?: string | undefined;
        /** An IP address, or a part of it. */
        meta_source_ip?: string | undefined;
        /** An email address or username, in full: entries about it, also of no account, which hold its keyed digest. */
        identifier?: string | undefined;
        /** A part of the user's id, of the email address or of the IP address. */
        q?: string | undefined;
      };
    };
    answer: {
      items: {
        id: string;
        type: string;
        /** What failed. */
        error?: string | undefined;
        meta_http_request_id: string;
        /** Empty for the `stile` command. */
        meta_source_ip: string;
        meta_user_agent: string;
        /** The account that the event concerns. For the passkey server, the application's id of the user. */
        actor_user_id?: string | undefined;
        /** The account's primary email address at present. */
        actor_email?: string | undefined;
        /** Of a failure, `reason` says why, from a closed list; entries of version 0.2 may have none. */
        details: Record<string, unknown>;
        tenant_id: string;
        created_at: string;
        /** The same as `created_at`: entries are never changed. */
        updated_at: string;
      }[];
      total: number;
    };
  };
  /** Find sign-ins of an identifier without an account that failed. The audit log keeps what has no account masked. `certain` failures have the digest of this identifier; the others can only fit its mask, such as `a…a@example.com`, and may be about another identifier, for instance one that was mistyped, or about this one under a key that is no longer in `SECRET_KEYS`. At most 50 000 of the newest failures are passed, and 200 listed. */
  findFailedSignIns: {
    input: {
      query: {
        /** An email address, a username or a phone number, in full. */
        identifier: string;
        /** Only later ones. Default: the last 30 days. */
        start_time?: string | undefined;
      };
    };
    answer: {
      /** How entries show the identifier. */
      mask: string;
      /** The account that has the identifier now, whose entries are its own. */
      user_id: string | null;
      /** Whether all failures since `start_time` were passed, and are listed. */
      is_complete: boolean;
      failures: {
        /** Whether it is about this identifier. False: its mask is the same. */
        certain: boolean;
        entry: {
          id: string;
          type: string;
          /** What failed. */
          error?: string | undefined;
          meta_http_request_id: string;
          /** Empty for the `stile` command. */
          meta_source_ip: string;
          meta_user_agent: string;
          /** The account that the event concerns. For the passkey server, the application's id of the user. */
          actor_user_id?: string | undefined;
          /** The account's primary email address at present. */
          actor_email?: string | undefined;
          /** Of a failure, `reason` says why, from a closed list; entries of version 0.2 may have none. */
          details: Record<string, unknown>;
          tenant_id: string;
          created_at: string;
          /** The same as `created_at`: entries are never changed. */
          updated_at: string;
        };
      }[];
    };
  };
  /** Export entries of the audit log as lines of JSON, oldest first. Ends with the last entry from before the request, or before `end_time`. An answer that breaks off is incomplete; continue with `start_time` just before the last entry. */
  exportAuditLogs: {
    input: {
      query?: {
        /** Only later entries. */
        start_time?: string | undefined;
        /** Only earlier entries. */
        end_time?: string | undefined;
        /** Types of entries, repeated or separated by commas. */
        type?: AuditType[] | undefined;
        /** The id of a user, or a part of it. */
        actor_user_id?: string | undefined;
        /** The email address of an account, or a part of it. */
        actor_email?: string | undefined;
        /** An IP address, or a part of it. */
        meta_source_ip?: string | undefined;
        /** An email address or username, in full: entries about it, also of no account, which hold its keyed digest. */
        identifier?: string | undefined;
        /** A part of the user's id, of the email address or of the IP address. */
        q?: string | undefined;
      };
    };
    answer: string;
  };
  /** List recorded flows, those that were started last first. Flows are recorded while `recorder.enabled` is on, and kept for `recorder.retention`. */
  listFlows: {
    input: {
      query?: {
        /** Page of the list, from 1. */
        page?: number | undefined;
        /** Items on a page. */
        per_page?: number | undefined;
        /** What a user reads from the foot of the page. */
        support_number?: string | undefined;
        /** The account that flows are about. */
        user_id?: string | undefined;
        /** The state that was answered last. */
        state?:
          | "preflight"
          | "account_choice"
          | "login_init"
          | "login_passkey"
          | "login_method_chooser"
          | "login_password"
          | "login_password_recovery"
          | "passcode_confirmation"
          | "phone_confirmation"
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
          | "login_sms"
          | "mfa_method_chooser"
          | "mfa_otp_secret_creation"
          | "mfa_security_key_creation"
          | "mfa_phone_creation"
          | "device_trust"
          | "profile_init"
          | "webauthn_credential_verification"
          | "account_deleted"
          | "device_code"
          | "consent"
          | "consent_answered"
          | "success"
          | undefined;
        outcome?: "under_way" | "rejected" | "completed" | undefined;
        type?: "login" | "registration" | "profile" | "token_exchange" | "consent" | undefined;
        /** A request that was a step, by `X-Request-ID`, as the log and the audit log have it. */
        request_id?: string | undefined;
        /** Only flows that were started then or later. */
        since?: string | undefined;
        /** Only flows that were started earlier. */
        until?: string | undefined;
      };
    };
    answer: {
      items: {
        id: string;
        /** What the page shows its user, in two groups of four. */
        support_number: string;
        /** One of login, registration, profile, token_exchange, consent. */
        type: string;
        /** The state that was answered last. */
        state: string | null;
        /** One of under_way, rejected, completed. `rejected`: the last step was not performed. A flow that is not completed within `flow.lifetime` was given up. */
        outcome: string;
        /** The account that the flow is about, once it is known. */
        user_id: string | null;
        /** Whether there is that account: a registration makes it at its end, and it may have been deleted. */
        user_exists: boolean;
        steps: number;
        started_at: string;
        last_step_at: string;
      }[];
      total: number;
    };
  };
  /** Show what happened in a flow, what was offered, and why the rest was not. At most the first 1000 steps. They have no value that a user entered. */
  getFlow: {
    input: { id: string };
    answer: {
      id: string;
      /** What the page shows its user, in two groups of four. */
      support_number: string;
      /** One of login, registration, profile, token_exchange, consent. */
      type: string;
      /** The state that was answered last. */
      state: string | null;
      /** One of under_way, rejected, completed. `rejected`: the last step was not performed. A flow that is not completed within `flow.lifetime` was given up. */
      outcome: string;
      /** The account that the flow is about, once it is known. */
      user_id: string | null;
      /** Whether there is that account: a registration makes it at its end, and it may have been deleted. */
      user_exists: boolean;
      steps: number;
      started_at: string;
      last_step_at: string;
      path: {
        at: string;
        /** Null for a start without an action, and where the flow was not read. */
        from: string | null;
        action: string | null;
        /** One of started, performed, rejected_input, error, refused, failed. `error`: the action was rejected; `refused`: it was not judged; `failed`: an unexpected error. */
        verdict: string;
        /** The state that was answered; null if the answer showed none of the flow. */
        state: string | null;
        error: string | null;
        /** Why the action failed, which the user is not told; null where the error says it all. */
        reason: {
          /** As in the audit log. */
          name: string;
          /** The name again where this version does not know it. */
          sentence: string;
        } | null;
        milliseconds: {
          total: number;
          database: number;
          hash: number;
          provider: number;
          rest: number;
        };
        /** Statements that were sent to the database. */
        statements: number;
        /** How long the state before was shown. */
        shown_for_ms: number | null;
        request_id: string;
        /** The network of the client: an IPv4 /24, an IPv6 /48. */
        source: string;
        client: {
          platform: string | null;
          browser: string | null;
          /** One of page, frame, element, client. */
          embedding: string;
          /** Null if it was not asked. */
          capabilities: string[] | null;
        };
        /** What was sent, without values. */
        inputs: {
          name: string;
          kind: string;
          length: number | null;
        }[];
        not_offered: {
          /** By name, what decided when the answer was made. */
          actions: {
            name: string;
            reasons: {
              /** Kind and subject of what decided, after `!` if it does not hold. */
              name: string;
              /** The name again where this version does not know it. */
              sentence: string;
            }[];
          }[];
          /** By name, what decided when the answer was made. */
          states: {
            name: string;
            reasons: {
              /** Kind and subject of what decided, after `!` if it does not hold. */
              name: string;
              /** The name again where this version does not know it. */
              sentence: string;
            }[];
          }[];
        };
      }[];
    };
  };
  /** Export what a flow was decided by, for a replay. The bundle has no secret, no value that a user entered, and no text of the settings. `stile flow replay` performs it. */
  exportFlow: {
    input: { id: string };
    answer: FlowBundle;
  };
  /** Perform a recorded flow again, and tell how it differs. The engine of this version judges each step by what was recorded of it. Nothing is read of accounts, sent or changed. */
  replayFlow: {
    input: {
      id: string;
      body?: {
        /** Those that the flow was recorded with, or those of the tenant now. */
        settings?: "recorded" | "current" | undefined;
        /** A JSON Merge Patch (RFC 7396) of the settings of the tenant now; of the default tenant, one of the server's configuration. */
        config?: TenantSettings | undefined;
      };
    };
    answer: ReplayedFlow;
  };
  /** List tenants, oldest first. A key of the default tenant sees all of them, any other key its own tenant. */
  listTenants: {
    input: {
      query?: {
        /** Page of the list, from 1. */
        page?: number | undefined;
        /** Items on a page. */
        per_page?: number | undefined;
      };
    };
    answer: { items: Tenant[]; total: number };
  };
  /** Create a tenant. */
  createTenant: {
    input: {
      body: {
        /** Default: a new one. */
        id?: string | undefined;
        name: string;
        hosts?: string[] | undefined;
        config?: TenantSettings | undefined;
      };
    };
    answer: Tenant;
  };
  /** Get a tenant with its settings. */
  getTenant: {
    input: { id: string };
    answer: Tenant;
  };
  /** Change a tenant's name, host names or settings. Other servers see the change within five seconds. */
  changeTenant: {
    input: {
      id: string;
      body?: {
        name?: string | undefined;
        hosts?: string[] | undefined;
        /** A JSON Merge Patch (RFC 7396) of its settings: null removes one. */
        config?: TenantSettings | undefined;
        /** `updated_at` of the tenant that the change was made of. If it was changed since, the answer is 409 with the newest changes. */
        if_unchanged_since?: string | undefined;
        /** Ids of users who must not lose their access. If one of them could sign in and no longer can, the answer is 409. Default: for a change by the console, the accounts that may enter it, of which `console.require` is asked too; an empty list confirms that they are locked out. */
        unless_locked_out?: string[] | undefined;
      };
    };
    answer: Tenant;
  };
  /** Delete a tenant with all of its data. */
  deleteTenant: {
    input: {
      id: string;
      query?: {
        /** Whether a tenant that has users is deleted with them. */
        with_users?: boolean | undefined;
      };
    };
    answer: undefined;
  };
  /** Get the tenant of the key with its settings. */
  getOwnTenant: {
    input: Record<never, never>;
    answer: Tenant;
  };
  /** Change the tenant of the key. */
  changeOwnTenant: {
    input: {
      body?: {
        name?: string | undefined;
        hosts?: string[] | undefined;
        /** A JSON Merge Patch (RFC 7396) of its settings: null removes one. */
        config?: TenantSettings | undefined;
        /** `updated_at` of the tenant that the change was made of. If it was changed since, the answer is 409 with the newest changes. */
        if_unchanged_since?: string | undefined;
        /** Ids of users who must not lose their access. If one of them could sign in and no longer can, the answer is 409. Default: for a change by the console, the accounts that may enter it, of which `console.require` is asked too; an empty list confirms that they are locked out. */
        unless_locked_out?: string[] | undefined;
      };
    };
    answer: Tenant;
  };
  /** List all settings with their values for a tenant. Values of settings of the server are told to keys of the default tenant alone. */
  listSettingsOfTenant: {
    input: {
      id: string;
      query?: {
        /** Only this setting, or those in this section: `password`, `session.cookie`. */
        section?: string | undefined;
      };
    };
    answer: Setting[];
  };
  /** Tell whether a change of the settings of a tenant would be valid. Nothing is changed, and no user is read. What contradicts is the message of the error. */
  checkSettingsOfTenant: {
    input: {
      id: string;
      body: {
        /** A JSON Merge Patch (RFC 7396) of its settings. Of the default tenant, one of the server's configuration. */
        config: TenantSettings;
      };
    };
    answer: {
      /** That of the tenant: `if_unchanged_since` of the change. */
      updated_at: string;
    };
  };
  /** Tell what a change of the settings of a tenant would do. Nothing is changed. Users are judged by the conditions that decide sign-ins, those with equal methods and identifiers once. */
  dryRunSettingsOfTenant: {
    input: {
      id: string;
      body: {
        /** A JSON Merge Patch (RFC 7396) of its settings. Of the default tenant, one of the server's configuration. */
        config: TenantSettings;
      };
    };
    answer: DryRun;
  };
  /** List the users of a tenant whom a change of settings would affect, as lines of JSON. An answer that breaks off is incomplete. */
  exportDryRunOfTenant: {
    input: {
      id: string;
      body: {
        /** A JSON Merge Patch (RFC 7396) of its settings. Of the default tenant, one of the server's configuration. */
        config: TenantSettings;
        /** Those of groups of the dry run of the same change. */
        keys: number[];
      };
    };
    answer: string;
  };
  /** List the changes of the settings of a tenant, newest first. Each is a version of the settings that can be restored. At most 200 are kept. The default tenant has none: the configuration of the server defines its settings. */
  listSettingsHistoryOfTenant: {
    input: {
      id: string;
      query?: {
        /** Page of the list, from 1. */
        page?: number | undefined;
        /** Items on a page. */
        per_page?: number | undefined;
      };
    };
    answer: { items: SettingsVersion[]; total: number };
  };
  /** Make the settings of a tenant those of a version again. The settings are validated as those of any change. */
  restoreSettingsOfTenant: {
    input: {
      id: string;
      version_id: string;
      body?: {
        /** `updated_at` of the tenant that the change was made of. If it was changed since, the answer is 409 with the newest changes. */
        if_unchanged_since?: string | undefined;
        /** Ids of users who must not lose their access. If one of them could sign in and no longer can, the answer is 409. Default: for a change by the console, the accounts that may enter it, of which `console.require` is asked too; an empty list confirms that they are locked out. */
        unless_locked_out?: string[] | undefined;
      };
    };
    answer: Tenant;
  };
  /** List all settings with their values for the tenant of the key. Values of settings of the server are told to keys of the default tenant alone. */
  listSettings: {
    input: {
      query?: {
        /** Only this setting, or those in this section: `password`, `session.cookie`. */
        section?: string | undefined;
      };
    };
    answer: Setting[];
  };
  /** Tell whether a change of the settings of the tenant of the key would be valid. Nothing is changed, and no user is read. What contradicts is the message of the error. */
  checkSettings: {
    input: {
      body: {
        /** A JSON Merge Patch (RFC 7396) of its settings. Of the default tenant, one of the server's configuration. */
        config: TenantSettings;
      };
    };
    answer: {
      /** That of the tenant: `if_unchanged_since` of the change. */
      updated_at: string;
    };
  };
  /** Tell what a change of the settings of the tenant of the key would do. Nothing is changed. Users are judged by the conditions that decide sign-ins, those with equal methods and identifiers once. */
  dryRunSettings: {
    input: {
      body: {
        /** A JSON Merge Patch (RFC 7396) of its settings. Of the default tenant, one of the server's configuration. */
        config: TenantSettings;
      };
    };
    answer: DryRun;
  };
  /** List the users of the tenant of the key whom a change of settings would affect, as lines of JSON. An answer that breaks off is incomplete. */
  exportDryRun: {
    input: {
      body: {
        /** A JSON Merge Patch (RFC 7396) of its settings. Of the default tenant, one of the server's configuration. */
        config: TenantSettings;
        /** Those of groups of the dry run of the same change. */
        keys: number[];
      };
    };
    answer: string;
  };
  /** List the changes of the settings of the tenant of the key, newest first. Each is a version of the settings that can be restored. At most 200 are kept. The default tenant has none: the configuration of the server defines its settings. */
  listSettingsHistory: {
    input: {
      query?: {
        /** Page of the list, from 1. */
        page?: number | undefined;
        /** Items on a page. */
        per_page?: number | undefined;
      };
    };
    answer: { items: SettingsVersion[]; total: number };
  };
  /** Make the settings of the tenant of the key those of a version again. The settings are validated as those of any change. */
  restoreSettings: {
    input: {
      version_id: string;
      body?: {
        /** `updated_at` of the tenant that the change was made of. If it was changed since, the answer is 409 with the newest changes. */
        if_unchanged_since?: string | undefined;
        /** Ids of users who must not lose their access. If one of them could sign in and no longer can, the answer is 409. Default: for a change by the console, the accounts that may enter it, of which `console.require` is asked too; an empty list confirms that they are locked out. */
        unless_locked_out?: string[] | undefined;
      };
    };
    answer: Tenant;
  };
  /** Check what the settings of a SAML provider of a tenant lead to. Nothing is saved. The documents of the provider are read as at a sign-in: with its limits of size and time, and without redirects. */
  checkSamlProviderOfTenant: {
    input: {
      id: string;
      body?: {
        /** Absent for a new provider. */
        provider_id?: string | undefined;
        /** What would be changed of it. */
        settings?: SamlProviderPatch | undefined;
      };
    };
    answer: ProviderFinding[];
  };
  /** List the SAML providers of a tenant. */
  listSamlProvidersOfTenant: {
    input: { id: string };
    answer: {
      id: string;
      name: string;
    }[];
  };
  /** Add a SAML provider to a tenant. Addresses in its mail domains lead to it, and no longer to other ways to sign in. */
  createSamlProviderOfTenant: {
    input: {
      id: string;
      query?: {
        /** Ids of users who must not lose their access. If one of them could sign in and no longer can, the answer is 409. Default: for a change by the console, the accounts that may enter it, of which `console.require` is asked too; an empty list confirms that they are locked out. */
        unless_locked_out?: string[] | undefined;
      };
      body: {
        name: string;
        enabled?: boolean | undefined;
        domain?: string | undefined;
        domains?: string[] | undefined;
        entity_id?: string | undefined;
        metadata_url?: string | undefined;
        metadata?: string | undefined;
        skip_email_verification?: boolean | undefined;
        satisfies_mfa?: boolean | undefined;
        allow_idp_initiated?: boolean | undefined;
        single_logout?: boolean | undefined;
        attribute_map?: Record<string, string> | undefined;
      };
    };
    answer: {
      id: string;
      name: string;
    };
  };
  /** Get a SAML provider of a tenant. */
  getSamlProviderOfTenant: {
    input: { id: string; provider_id: string };
    answer: {
      id: string;
      name: string;
    };
  };
  /** Replace the settings of a SAML provider of a tenant. */
  replaceSamlProviderOfTenant: {
    input: {
      id: string;
      provider_id: string;
      query?: {
        /** Ids of users who must not lose their access. If one of them could sign in and no longer can, the answer is 409. Default: for a change by the console, the accounts that may enter it, of which `console.require` is asked too; an empty list confirms that they are locked out. */
        unless_locked_out?: string[] | undefined;
      };
      body: {
        name: string;
        enabled?: boolean | undefined;
        domain?: string | undefined;
        domains?: string[] | undefined;
        entity_id?: string | undefined;
        metadata_url?: string | undefined;
        metadata?: string | undefined;
        skip_email_verification?: boolean | undefined;
        satisfies_mfa?: boolean | undefined;
        allow_idp_initiated?: boolean | undefined;
        single_logout?: boolean | undefined;
        attribute_map?: Record<string, string> | undefined;
      };
    };
    answer: {
      id: string;
      name: string;
    };
  };
  /** Change settings of a SAML provider of a tenant. A JSON Merge Patch (RFC 7396): null removes a setting. */
  changeSamlProviderOfTenant: {
    input: {
      id: string;
      provider_id: string;
      query?: {
        /** Ids of users who must not lose their access. If one of them could sign in and no longer can, the answer is 409. Default: for a change by the console, the accounts that may enter it, of which `console.require` is asked too; an empty list confirms that they are locked out. */
        unless_locked_out?: string[] | undefined;
      };
      body?: SamlProviderPatch;
    };
    answer: {
      id: string;
      name: string;
    };
  };
  /** Delete a SAML provider of a tenant. */
  deleteSamlProviderOfTenant: {
    input: {
      id: string;
      provider_id: string;
      query?: {
        /** Ids of users who must not lose their access. If one of them could sign in and no longer can, the answer is 409. Default: for a change by the console, the accounts that may enter it, of which `console.require` is asked too; an empty list confirms that they are locked out. */
        unless_locked_out?: string[] | undefined;
      };
    };
    answer: undefined;
  };
  /** Check what the settings of a SAML provider of the tenant of the key lead to. Nothing is saved. The documents of the provider are read as at a sign-in: with its limits of size and time, and without redirects. */
  checkSamlProvider: {
    input: {
      body?: {
        /** Absent for a new provider. */
        provider_id?: string | undefined;
        /** What would be changed of it. */
        settings?: SamlProviderPatch | undefined;
      };
    };
    answer: ProviderFinding[];
  };
  /** List the SAML providers of the tenant of the key. */
  listSamlProviders: {
    input: Record<never, never>;
    answer: {
      id: string;
      name: string;
    }[];
  };
  /** Add a SAML provider to the tenant of the key. Addresses in its mail domains lead to it, and no longer to other ways to sign in. */
  createSamlProvider: {
    input: {
      query?: {
        /** Ids of users who must not lose their access. If one of them could sign in and no longer can, the answer is 409. Default: for a change by the console, the accounts that may enter it, of which `console.require` is asked too; an empty list confirms that they are locked out. */
        unless_locked_out?: string[] | undefined;
      };
      body: {
        name: string;
        enabled?: boolean | undefined;
        domain?: string | undefined;
        domains?: string[] | undefined;
        entity_id?: string | undefined;
        metadata_url?: string | undefined;
        metadata?: string | undefined;
        skip_email_verification?: boolean | undefined;
        satisfies_mfa?: boolean | undefined;
        allow_idp_initiated?: boolean | undefined;
        single_logout?: boolean | undefined;
        attribute_map?: Record<string, string> | undefined;
      };
    };
    answer: {
      id: string;
      name: string;
    };
  };
  /** Get a SAML provider of the tenant of the key. */
  getSamlProvider: {
    input: { provider_id: string };
    answer: {
      id: string;
      name: string;
    };
  };
  /** Replace the settings of a SAML provider of the tenant of the key. */
  replaceSamlProvider: {
    input: {
      provider_id: string;
      query?: {
        /** Ids of users who must not lose their access. If one of them could sign in and no longer can, the answer is 409. Default: for a change by the console, the accounts that may enter it, of which `console.require` is asked too; an empty list confirms that they are locked out. */
        unless_locked_out?: string[] | undefined;
      };
      body: {
        name: string;
        enabled?: boolean | undefined;
        domain?: string | undefined;
        domains?: string[] | undefined;
        entity_id?: string | undefined;
        metadata_url?: string | undefined;
        metadata?: string | undefined;
        skip_email_verification?: boolean | undefined;
        satisfies_mfa?: boolean | undefined;
        allow_idp_initiated?: boolean | undefined;
        single_logout?: boolean | undefined;
        attribute_map?: Record<string, string> | undefined;
      };
    };
    answer: {
      id: string;
      name: string;
    };
  };
  /** Change settings of a SAML provider of the tenant of the key. A JSON Merge Patch (RFC 7396): null removes a setting. */
  changeSamlProvider: {
    input: {
      provider_id: string;
      query?: {
        /** Ids of users who must not lose their access. If one of them could sign in and no longer can, the answer is 409. Default: for a change by the console, the accounts that may enter it, of which `console.require` is asked too; an empty list confirms that they are locked out. */
        unless_locked_out?: string[] | undefined;
      };
      body?: SamlProviderPatch;
    };
    answer: {
      id: string;
      name: string;
    };
  };
  /** Delete a SAML provider of the tenant of the key. */
  deleteSamlProvider: {
    input: {
      provider_id: string;
      query?: {
        /** Ids of users who must not lose their access. If one of them could sign in and no longer can, the answer is 409. Default: for a change by the console, the accounts that may enter it, of which `console.require` is asked too; an empty list confirms that they are locked out. */
        unless_locked_out?: string[] | undefined;
      };
    };
    answer: undefined;
  };
  /** Check what the settings of an OAuth provider of a tenant lead to. Nothing is saved. The documents of the provider are read as at a sign-in: with its limits of size and time, and without redirects. */
  checkOAuthProviderOfTenant: {
    input: {
      id: string;
      body: {
        /** `google`, or `custom_` and a key, of a new provider too. */
        provider_id: string;
        /** What would be changed of it. */
        settings?: OAuthProviderPatch | undefined;
      };
    };
    answer: ProviderFinding[];
  };
  /** List the OAuth providers of a tenant. */
  listOAuthProvidersOfTenant: {
    input: { id: string };
    answer: OAuthProvider[];
  };
  /** Add an OAuth provider to a tenant. `id` is `custom_` and a key of lower case letters, digits, `_` and `-`. */
  createOAuthProviderOfTenant: {
    input: {
      id: string;
      body: {
        id: string;
        settings: OAuthProviderSettings;
      };
    };
    answer: OAuthProvider;
  };
  /** Get an OAuth provider of a tenant. */
  getOAuthProviderOfTenant: {
    input: { id: string; provider_id: string };
    answer: OAuthProvider;
  };
  /** Change settings of an OAuth provider of a tenant. A JSON Merge Patch (RFC 7396): null removes a setting. Secrets are written and never shown. */
  changeOAuthProviderOfTenant: {
    input: {
      id: string;
      provider_id: string;
      query?: {
        /** Ids of users who must not lose their access. If one of them could sign in and no longer can, the answer is 409. Default: for a change by the console, the accounts that may enter it, of which `console.require` is asked too; an empty list confirms that they are locked out. */
        unless_locked_out?: string[] | undefined;
      };
      body?: OAuthProviderPatch;
    };
    answer: OAuthProvider;
  };
  /** Delete an OAuth provider of a tenant, or the settings of a built-in one. */
  deleteOAuthProviderOfTenant: {
    input: {
      id: string;
      provider_id: string;
      query?: {
        /** Ids of users who must not lose their access. If one of them could sign in and no longer can, the answer is 409. Default: for a change by the console, the accounts that may enter it, of which `console.require` is asked too; an empty list confirms that they are locked out. */
        unless_locked_out?: string[] | undefined;
      };
    };
    answer: undefined;
  };
  /** Check what the settings of an OAuth provider of the tenant of the key lead to. Nothing is saved. The documents of the provider are read as at a sign-in: with its limits of size and time, and without redirects. */
  checkOAuthProvider: {
    input: {
      body: {
        /** `google`, or `custom_` and a key, of a new provider too. */
        provider_id: string;
        /** What would be changed of it. */
        settings?: OAuthProviderPatch | undefined;
      };
    };
    answer: ProviderFinding[];
  };
  /** List the OAuth providers of the tenant of the key. */
  listOAuthProviders: {
    input: Record<never, never>;
    answer: OAuthProvider[];
  };
  /** Add an OAuth provider to the tenant of the key. `id` is `custom_` and a key of lower case letters, digits, `_` and `-`. */
  createOAuthProvider: {
    input: {
      body: {
        id: string;
        settings: OAuthProviderSettings;
      };
    };
    answer: OAuthProvider;
  };
  /** Get an OAuth provider of the tenant of the key. */
  getOAuthProvider: {
    input: { provider_id: string };
    answer: OAuthProvider;
  };
  /** Change settings of an OAuth provider of the tenant of the key. A JSON Merge Patch (RFC 7396): null removes a setting. Secrets are written and never shown. */
  changeOAuthProvider: {
    input: {
      provider_id: string;
      query?: {
        /** Ids of users who must not lose their access. If one of them could sign in and no longer can, the answer is 409. Default: for a change by the console, the accounts that may enter it, of which `console.require` is asked too; an empty list confirms that they are locked out. */
        unless_locked_out?: string[] | undefined;
      };
      body?: OAuthProviderPatch;
    };
    answer: OAuthProvider;
  };
  /** Delete an OAuth provider of the tenant of the key, or the settings of a built-in one. */
  deleteOAuthProvider: {
    input: {
      provider_id: string;
      query?: {
        /** Ids of users who must not lose their access. If one of them could sign in and no longer can, the answer is 409. Default: for a change by the console, the accounts that may enter it, of which `console.require` is asked too; an empty list confirms that they are locked out. */
        unless_locked_out?: string[] | undefined;
      };
    };
    answer: undefined;
  };
  /** Begin a test sign-in at an OAuth provider of a tenant. A sign-in at the provider that signs no user in and writes no account: its result is what would have become of it, decided as that of a real one. It belongs to the session of the console that begins it, and is kept for ten minutes. */
  beginOAuthProviderTestOfTenant: {
    input: { id: string; provider_id: string };
    answer: ProviderTest;
  };
  /** Begin a test sign-in at a SAML provider of a tenant. A sign-in at the provider that signs no user in and writes no account: its result is what would have become of it, decided as that of a real one. It belongs to the session of the console that begins it, and is kept for ten minutes. */
  beginSamlProviderTestOfTenant: {
    input: { id: string; provider_id: string };
    answer: ProviderTest;
  };
  /** Get the result of a test sign-in at a provider of a tenant. Only for the session of the console that began it. */
  getProviderTestOfTenant: {
    input: { id: string; test_id: string };
    answer: ProviderTest;
  };
  /** Begin a test sign-in at an OAuth provider of the tenant of the key. A sign-in at the provider that signs no user in and writes no account: its result is what would have become of it, decided as that of a real one. It belongs to the session of the console that begins it, and is kept for ten minutes. */
  beginOAuthProviderTest: {
    input: { provider_id: string };
    answer: ProviderTest;
  };
  /** Begin a test sign-in at a SAML provider of the tenant of the key. A sign-in at the provider that signs no user in and writes no account: its result is what would have become of it, decided as that of a real one. It belongs to the session of the console that begins it, and is kept for ten minutes. */
  beginSamlProviderTest: {
    input: { provider_id: string };
    answer: ProviderTest;
  };
  /** Get the result of a test sign-in at a provider of the tenant of the key. Only for the session of the console that began it. */
  getProviderTest: {
    input: { test_id: string };
    answer: ProviderTest;
  };
  /** List the clients of the OpenID provider of a tenant. */
  listOpenidClientsOfTenant: {
    input: { id: string };
    answer: OpenidClient[];
  };
  /** Add a client to the OpenID provider of a tenant. A client without `secret` and `jwks` is a public one. `POST …/secret` makes a secret for it. */
  createOpenidClientOfTenant: {
    input: {
      id: string;
      body: {
        id: string;
        settings: OpenidClientSettings;
      };
    };
    answer: OpenidClient;
  };
  /** Get a client of the OpenID provider of a tenant. */
  getOpenidClientOfTenant: {
    input: { id: string; client_id: string };
    answer: OpenidClient;
  };
  /** Change settings of a client of the OpenID provider of a tenant. A JSON Merge Patch (RFC 7396): null removes a setting. The secret is written and never shown. */
  changeOpenidClientOfTenant: {
    input: { id: string; client_id: string; body?: OpenidClientPatch };
    answer: OpenidClient;
  };
  /** Delete a client of the OpenID provider of a tenant. Its tokens are of no use any more. */
  deleteOpenidClientOfTenant: {
    input: { id: string; client_id: string };
    answer: undefined;
  };
  /** Make a new secret for a client of the OpenID provider of a tenant. The former one authenticates the client no more. */
  renewOpenidClientSecretOfTenant: {
    input: { id: string; client_id: string };
    answer: {
      /** In this answer alone. */
      secret: string;
    };
  };
  /** List the clients of the OpenID provider of the tenant of the key. */
  listOpenidClients: {
    input: Record<never, never>;
    answer: OpenidClient[];
  };
  /** Add a client to the OpenID provider of the tenant of the key. A client without `secret` and `jwks` is a public one. `POST …/secret` makes a secret for it. */
  createOpenidClient: {
    input: {
      body: {
        id: string;
        settings: OpenidClientSettings;
      };
    };
    answer: OpenidClient;
  };
  /** Get a client of the OpenID provider of the tenant of the key. */
  getOpenidClient: {
    input: { client_id: string };
    answer: OpenidClient;
  };
  /** Change settings of a client of the OpenID provider of the tenant of the key. A JSON Merge Patch (RFC 7396): null removes a setting. The secret is written and never shown. */
  changeOpenidClient: {
    input: { client_id: string; body?: OpenidClientPatch };
    answer: OpenidClient;
  };
  /** Delete a client of the OpenID provider of the tenant of the key. Its tokens are of no use any more. */
  deleteOpenidClient: {
    input: { client_id: string };
    answer: undefined;
  };
  /** Make a new secret for a client of the OpenID provider of the tenant of the key. The former one authenticates the client no more. */
  renewOpenidClientSecret: {
    input: { client_id: string };
    answer: {
      /** In this answer alone. */
      secret: string;
    };
  };
  /** List the users of a tenant to whose accounts a client has access, newest first. Also of a client that is not listed. */
  listOpenidClientGrantsOfTenant: {
    input: {
      id: string;
      client_id: string;
      query?: {
        /** Page of the list, from 1. */
        page?: number | undefined;
        /** Items on a page. */
        per_page?: number | undefined;
      };
    };
    answer: { items: OpenidClientGrant[]; total: number };
  };
  /** List the clients of a tenant that describe themselves: by a document, or by registering; newest first. Client ID Metadata Documents, and registrations by RFC 7591. */
  listUnlistedOpenidClientsOfTenant: {
    input: {
      id: string;
      query?: {
        /** Page of the list, from 1. */
        page?: number | undefined;
        /** Items on a page. */
        per_page?: number | undefined;
      };
    };
    answer: { items: UnlistedOpenidClient[]; total: number };
  };
  /** List the users of the tenant of the key to whose accounts a client has access, newest first. Also of a client that is not listed. */
  listOpenidClientGrants: {
    input: {
      client_id: string;
      query?: {
        /** Page of the list, from 1. */
        page?: number | undefined;
        /** Items on a page. */
        per_page?: number | undefined;
      };
    };
    answer: { items: OpenidClientGrant[]; total: number };
  };
  /** List the clients of the tenant of the key that describe themselves: by a document, or by registering; newest first. Client ID Metadata Documents, and registrations by RFC 7591. */
  listUnlistedOpenidClients: {
    input: {
      query?: {
        /** Page of the list, from 1. */
        page?: number | undefined;
        /** Items on a page. */
        per_page?: number | undefined;
      };
    };
    answer: { items: UnlistedOpenidClient[]; total: number };
  };
  /** List the tenant's API keys, oldest first, without the keys. */
  listApiKeys: {
    input: Record<never, never>;
    answer: {
      id: string;
      interface: "passkeys" | "authenticator" | "admin";
      name: string;
      created_at: string;
      /** To the minute; null if it was never used. */
      last_used_at: string | null;
    }[];
  };
  /** Create an API key of the tenant. The answer has the key. It is stored as a hash and cannot be shown again. */
  createApiKey: {
    input: {
      body: {
        interface: "passkeys" | "authenticator" | "admin";
        name?: string | undefined;
      };
    };
    answer: {
      id: string;
      interface: "passkeys" | "authenticator" | "admin";
      name: string;
      /** The key, in this answer alone. */
      key: string;
    };
  };
  /** Delete an API key of the tenant. It is invalid at once. A key can delete itself. */
  deleteApiKey: {
    input: { id: string };
    answer: undefined;
  };
  /** List the keys that sign the tokens of a tenant, without their private parts. */
  listSigningKeysOfTenant: {
    input: { id: string };
    answer: SigningKey[];
  };
  /** Replace the key that signs tokens of a tenant. The new key is published at once and signs eleven minutes later, when caches of the key set have ended. The former key verifies its tokens until they have expired: no session ends. */
  rotateSigningKeyOfTenant: {
    input: {
      id: string;
      body: {
        purpose: "session" | "passkeys";
      };
    };
    answer: SigningKey[];
  };
  /** List the keys that sign the tokens of the tenant of the key, without their private parts. */
  listSigningKeys: {
    input: Record<never, never>;
    answer: SigningKey[];
  };
  /** Replace the key that signs tokens of the tenant of the key. The new key is published at once and signs eleven minutes later, when caches of the key set have ended. The former key verifies its tokens until they have expired: no session ends. */
  rotateSigningKey: {
    input: {
      body: {
        purpose: "session" | "passkeys";
      };
    };
    answer: SigningKey[];
  };
  /** Count the stored values under each secret key. Cookies and jobs are not counted; they end within a day. */
  getSecretKeys: {
    input: Record<never, never>;
    answer: SecretKeys;
  };
  /** Move all stored secrets under the first secret key. A job does it, which goes on after a restart. To rotate: add a new key second in SECRET_KEYS on every server, then put it first on every server, call this, and remove the old key a day after it is finished. */
  beginReseal: {
    input: Record<never, never>;
    answer: Reseal;
  };
  /** List moves of stored secrets, newest first. */
  listReseals: {
    input: {
      query?: {
        /** Page of the list, from 1. */
        page?: number | undefined;
        /** Items on a page. */
        per_page?: number | undefined;
      };
    };
    answer: { items: Reseal[]; total: number };
  };
  /** Find out how far a move of stored secrets is. */
  getReseal: {
    input: { id: string };
    answer: Reseal;
  };
  /** Cancel a move of stored secrets. What was moved stays under the first key. A second call has no effect. */
  cancelReseal: {
    input: { id: string };
    answer: Reseal;
  };
  /** List what became of mails and SMS, newest first. Each message has an item when it is queued or withheld, and one when the server accepts it or it is given up. The items are those of the audit log, for as long as `audit_log.retention`. */
  listMessages: {
    input: {
      query?: {
        /** Page of the list, from 1. */
        page?: number | undefined;
        /** Items on a page. */
        per_page?: number | undefined;
        channel?: "mail" | "sms" | undefined;
        /** Outcomes, repeated or separated by commas. */
        outcome?: ("queued" | "accepted" | "failed" | "withheld")[] | undefined;
        /** What the message is for, such as `login`. */
        kind?: string | undefined;
        user_id?: string | undefined;
        /** An email address or a phone number, in full. Entries hold its keyed digest. */
        recipient?: string | undefined;
        /** Only later items. */
        start_time?: string | undefined;
        /** Only earlier items. */
        end_time?: string | undefined;
      };
    };
    answer: { items: Message[]; total: number };
  };
  /** List the texts of pages, mails and SMS that the tenant can replace. */
  listTexts: {
    input: {
      query?: {
        language?: "de" | "en" | "fr" | "it" | "nl" | "pt-BR" | "bn" | "zh" | undefined;
        /** Only those whose paths begin with it, such as `mail.`. */
        prefix?: string | undefined;
      };
    };
    answer: ReplaceableText[];
  };
  /** List the pictures of pages that can be previewed. */
  listPagePreviews: {
    input: Record<never, never>;
    answer: {
      name: string;
      /** The state that it shows; null for another page. */
      state: string | null;
    }[];
  };
  /** Draw pages in the theme and the words of the tenant. Nothing is changed. The pictures have examples in place of what users enter. */
  previewPages: {
    input: {
      body?: {
        /** Of the texts. `en-XA` is English that is longer, and `ar-XB` English from right to left, to try a layout. */
        language?: "de" | "en" | "fr" | "it" | "nl" | "pt-BR" | "bn" | "zh" | "en-XA" | "ar-XB" | undefined;
        /** Settings that are tried: a JSON Merge Patch (RFC 7396), which is judged as a change would be. Default: those in force. */
        config?: TenantSettings | undefined;
        /** Names of pictures, of which unknown ones are left out, or states. */
        pictures?:
          | (
              | string
              | {
                  flow: "login" | "registration" | "profile" | "token_exchange" | "consent";
                  state:
                    | "preflight"
                    | "account_choice"
                    | "login_init"
                    | "login_passkey"
                    | "login_method_chooser"
                    | "login_password"
                    | "login_password_recovery"
                    | "passcode_confirmation"
                    | "phone_confirmation"
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
                    | "login_sms"
                    | "mfa_method_chooser"
                    | "mfa_otp_secret_creation"
                    | "mfa_security_key_creation"
                    | "mfa_phone_creation"
                    | "device_trust"
                    | "profile_init"
                    | "webauthn_credential_verification"
                    | "account_deleted"
                    | "device_code"
                    | "consent"
                    | "consent_answered"
                    | "success";
                  /** The actions that were offered. */
                  actions: string[];
                  /** The code of the error that was shown. */
                  error?: string | undefined;
                  /** Names of the inputs that were sent, at which an error of an input is drawn. */
                  inputs?: string[] | undefined;
                }
            )[]
          | undefined;
      };
    };
    answer: PagePreviews;
  };
  /** Write every mail and SMS in the words of the tenant. Nothing is sent. The messages have examples in place of codes, links and addresses. In `en-XA` and `ar-XB` there are mails alone. */
  previewMessages: {
    input: {
      body?: {
        /** Of the texts. `en-XA` is English that is longer, and `ar-XB` English from right to left, to try a layout. */
        language?: "de" | "en" | "fr" | "it" | "nl" | "pt-BR" | "bn" | "zh" | "en-XA" | "ar-XB" | undefined;
        /** Settings that are tried: a JSON Merge Patch (RFC 7396), which is judged as a change would be. Default: those in force. */
        config?: TenantSettings | undefined;
        /** Only this message, such as `login`. */
        kind?: string | undefined;
      };
    };
    answer: MessagePreview[];
  };
  /** Count users, and sign-ins by day and method. Days are those of UTC. A range has at most 366 days; by default it is the last 30. */
  getStatistics: {
    input: {
      query?: {
        /** First day. */
        from?: string | undefined;
        /** Last day. */
        to?: string | undefined;
      };
    };
    answer: {
      from: string;
      to: string;
      users: {
        total: number;
        blocked: number;
        /** Days without new users are absent. */
        new_by_day: Record<string, number>;
      };
      sign_ins: {
        /** Earlier sign-ins are no longer known: `audit_log.retention`. Null: none is, because `audit_log.storage` is off. */
        since: string | null;
        total: number;
        /** Days without sign-ins are absent. */
        by_day: Record<
          string,
          {
            total: number;
            /** A sign-in with two factors counts for both. */
            methods: Record<string, number>;
          }
        >;
      };
    };
  };
  /** Count sign-ins, failures, messages and deliveries, and compare them with the time before. A range has at most 336 hours or 92 days, of UTC. Counts are kept for `funnel.retention`. */
  getOverview: {
    input: {
      query?: {
        /** A time in the first step. Default: 24 hours, or 30 days, before `to`. */
        from?: string | undefined;
        /** The end. The step that it is in belongs to the range. Default: now. */
        to?: string | undefined;
        step?: "hour" | "day" | undefined;
      };
    };
    answer: {
      step: "hour" | "day";
      current: {
        from: string;
        to: string;
        sign_ins: number;
        sign_ups: number;
        failures: number;
        /** From the start of a flow to the sign-in. Null without sign-ins. */
        time_to_sign_in: {
          median_ms: number | null;
          p95_ms: number | null;
        };
        /** Hours and days in which nothing was counted are absent. */
        steps: {
          /** The start of the hour or day. */
          at: string;
          sign_ins: number;
          sign_ups: number;
          failures: number;
          /** A sign-in with two factors counts for both. */
          methods: Record<
            string,
            {
              sign_ins: number;
              sign_ups: number;
              failures: number;
            }
          >;
        }[];
        /** Reasons as entries of the audit log name them, and errors of flows. */
        failures_by_cause: Record<string, number>;
        messages: {
          mail: {
            sent: number;
            failed: number;
          };
          sms: {
            sent: number;
            failed: number;
          };
        };
        deliveries: {
          delivered: number;
          retried: number;
          failed: number;
        };
        /** How often each rate limit was exceeded. Only limits that were are present. */
        limits: Record<string, number>;
      };
      /** The same of the time before, which is as long. */
      previous: {
        from: string;
        to: string;
        sign_ins: number;
        sign_ups: number;
        failures: number;
        /** From the start of a flow to the sign-in. Null without sign-ins. */
        time_to_sign_in: {
          median_ms: number | null;
          p95_ms: number | null;
        };
        /** Hours and days in which nothing was counted are absent. */
        steps: {
          /** The start of the hour or day. */
          at: string;
          sign_ins: number;
          sign_ups: number;
          failures: number;
          /** A sign-in with two factors counts for both. */
          methods: Record<
            string,
            {
              sign_ins: number;
              sign_ups: number;
              failures: number;
            }
          >;
        }[];
        /** Reasons as entries of the audit log name them, and errors of flows. */
        failures_by_cause: Record<string, number>;
        messages: {
          mail: {
            sent: number;
            failed: number;
          };
          sms: {
            sent: number;
            failed: number;
          };
        };
        deliveries: {
          delivered: number;
          retried: number;
          failed: number;
        };
        /** How often each rate limit was exceeded. Only limits that were are present. */
        limits: Record<string, number>;
      };
      /** At most 100000 are counted. */
      active_sessions: {
        count: number;
        /** There are more than are counted. */
        more: boolean;
      };
      messages: {
        mail: {
          waiting: {
            count: number;
            /** There are more than are counted. */
            more: boolean;
          };
          /** Since when the server takes none; null if it does. */
          failing_since: string | null;
          /** Whether there is a server or service that sends them, or an application that is told of them. */
          set_up: boolean;
        };
        sms: {
          waiting: {
            count: number;
            /** There are more than are counted. */
            more: boolean;
          };
          /** Since when the server takes none; null if it does. */
          failing_since: string | null;
          /** Whether there is a server or service that sends them, or an application that is told of them. */
          set_up: boolean;
        };
      };
      /** At most 10000 are counted. */
      deliveries: {
        waiting: {
          count: number;
          /** There are more than are counted. */
          more: boolean;
        };
        /** Those among them that have failed before. */
        failing: number;
      };
      version: {
        service: string;
        /** Number of migrations that the database has. */
        schema: number;
      };
    };
  };
  /** Count how flows pass through their states, and where users give up. Users who entered a state are counted in the hour in which they entered it, whatever they did later. Nothing is counted of a page that is opened and left. Hours are those of UTC. A range has at most 744 hours. */
  getFunnel: {
    input: {
      query?: {
        /** A time in the first step. Default: 24 hours, or 30 days, before `to`. */
        from?: string | undefined;
        /** The end. The step that it is in belongs to the range. Default: now. */
        to?: string | undefined;
        /** The type of flow. */
        type?: "login" | "registration" | "profile" | "token_exchange" | "consent" | undefined;
        /** Only users of this system. */
        platform?:
          | "iPhone"
          | "iPad"
          | "HarmonyOS"
          | "Android"
          | "ChromeOS"
          | "Windows"
          | "macOS"
          | "Linux"
          | "other"
          | undefined;
        /** Only users of this browser. */
        browser?:
          | "Edge"
          | "Opera"
          | "Samsung Internet"
          | "Yandex Browser"
          | "DuckDuckGo"
          | "Huawei Browser"
          | "Mi Browser"
          | "UC Browser"
          | "Silk"
          | "Vivaldi"
          | "Firefox"
          | "Chrome"
          | "Safari"
          | "other"
          | undefined;
        /** Only where users met the flow: our `page`, a `frame` of it, an `element` in a page of another origin, or a `client` of the REST interface. */
        embedding?: "page" | "frame" | "element" | "client" | "other" | undefined;
        /** Only states that ask for this method, and actions that try it. */
        method?:
          | "password"
          | "passcode"
          | "sms"
          | "passkey"
          | "third_party"
          | "totp"
          | "security_key"
          | "authenticator"
          | "recovery_code"
          | "other"
          | undefined;
      };
    };
    answer: {
      from: string;
      to: string;
      type: "login" | "registration" | "profile" | "token_exchange" | "consent";
      /** What was entered before is complete: no flow of then goes on. Later, `open` is not 0. */
      complete_until: string;
      /** States that nothing was counted of are absent. */
      states: {
        state: string;
        entered: number;
        /** By an action, whenever that was. */
        left: number;
        /** Their flow ended in the state. Always 0 in states that end a flow. */
        given_up: number;
        /** Their flow goes on, or may. */
        open: number;
        /** The median time in the state of those who left it. */
        median_ms: number | null;
        /** 95 % of them were in it for no longer. */
        p95_ms: number | null;
        errors: {
          error: string;
          /** The reason of the entry in the audit log, else the error. */
          reason: string;
          count: number;
        }[];
      }[];
      edges: {
        from: string;
        action: string;
        to: string;
        count: number;
      }[];
      /** Hours in which so much happened that platform, browser, embedding and method of some of it are `other`. */
      full_hours: number;
    };
  };
  /** Count what became of users in one state, over time. Users who entered a state are counted in the hour in which they entered it, whatever they did later. Nothing is counted of a page that is opened and left. Hours are those of UTC. A series has at most 744 hours or 400 days. */
  getFunnelSeries: {
    input: {
      query: {
        /** A time in the first step. Default: 24 hours, or 30 days, before `to`. */
        from?: string | undefined;
        /** The end. The step that it is in belongs to the range. Default: now. */
        to?: string | undefined;
        /** The type of flow. */
        type?: "login" | "registration" | "profile" | "token_exchange" | "consent" | undefined;
        /** Only users of this system. */
        platform?:
          | "iPhone"
          | "iPad"
          | "HarmonyOS"
          | "Android"
          | "ChromeOS"
          | "Windows"
          | "macOS"
          | "Linux"
          | "other"
          | undefined;
        /** Only users of this browser. */
        browser?:
          | "Edge"
          | "Opera"
          | "Samsung Internet"
          | "Yandex Browser"
          | "DuckDuckGo"
          | "Huawei Browser"
          | "Mi Browser"
          | "UC Browser"
          | "Silk"
          | "Vivaldi"
          | "Firefox"
          | "Chrome"
          | "Safari"
          | "other"
          | undefined;
        /** Only where users met the flow: our `page`, a `frame` of it, an `element` in a page of another origin, or a `client` of the REST interface. */
        embedding?: "page" | "frame" | "element" | "client" | "other" | undefined;
        /** Only states that ask for this method, and actions that try it. */
        method?:
          | "password"
          | "passcode"
          | "sms"
          | "passkey"
          | "third_party"
          | "totp"
          | "security_key"
          | "authenticator"
          | "recovery_code"
          | "other"
          | undefined;
        state:
          | "preflight"
          | "account_choice"
          | "login_init"
          | "login_passkey"
          | "login_method_chooser"
          | "login_password"
          | "login_password_recovery"
          | "passcode_confirmation"
          | "phone_confirmation"
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
          | "login_sms"
          | "mfa_method_chooser"
          | "mfa_otp_secret_creation"
          | "mfa_security_key_creation"
          | "mfa_phone_creation"
          | "device_trust"
          | "profile_init"
          | "webauthn_credential_verification"
          | "account_deleted"
          | "device_code"
          | "consent"
          | "consent_answered"
          | "success";
        step?: "hour" | "day" | undefined;
        /** What the counts are told apart by. */
        by?: "method" | "platform" | "browser" | "embedding" | undefined;
      };
    };
    answer: {
      from: string;
      to: string;
      type: "login" | "registration" | "profile" | "token_exchange" | "consent";
      /** What was entered before is complete: no flow of then goes on. Later, `open` is not 0. */
      complete_until: string;
      state:
        | "preflight"
        | "account_choice"
        | "login_init"
        | "login_passkey"
        | "login_method_chooser"
        | "login_password"
        | "login_password_recovery"
        | "passcode_confirmation"
        | "phone_confirmation"
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
        | "login_sms"
        | "mfa_method_chooser"
        | "mfa_otp_secret_creation"
        | "mfa_security_key_creation"
        | "mfa_phone_creation"
        | "device_trust"
        | "profile_init"
        | "webauthn_credential_verification"
        | "account_deleted"
        | "device_code"
        | "consent"
        | "consent_answered"
        | "success";
      step: "hour" | "day";
      by: "method" | "platform" | "browser" | "embedding";
      /** Steps and values that nothing was counted of are absent. */
      points: {
        /** The start of the step. */
        at: string;
        /** `none`: it does not apply. */
        value: string;
        entered: number;
        /** By an action, whenever that was. */
        left: number;
        /** Their flow ended in the state. Always 0 in states that end a flow. */
        given_up: number;
        /** Their flow goes on, or may. */
        open: number;
        /** Steps that failed. */
        failed: number;
      }[];
    };
  };
  /** List the webhooks, stored and configured ones. */
  listWebhooks: {
    input: Record<never, never>;
    answer: {
      database: Webhook[];
      config: {
        /** Names the webhook for its deliveries; another callback is another webhook. */
        id: string;
        callback: string;
        events: EventSubscription[];
      }[];
    };
  };
  /** Create a webhook. The answer has its secret, which is stored sealed and cannot be shown again. */
  createWebhook: {
    input: {
      body: {
        /** An https address on the public internet, without user or fragment. */
        callback: string;
        events: EventSubscription[];
      };
    };
    answer: WebhookWithSecret;
  };
  /** Get a webhook. */
  getWebhook: {
    input: { id: string };
    answer: Webhook;
  };
  /** Change a webhook. Sets `failures` to 0, and `expires_at` to 30 days from now. */
  updateWebhook: {
    input: {
      id: string;
      body: {
        /** An https address on the public internet, without user or fragment. */
        callback: string;
        events: EventSubscription[];
        enabled: boolean;
      };
    };
    answer: Webhook;
  };
  /** Delete a webhook and its deliveries. */
  deleteWebhook: {
    input: { id: string };
    answer: undefined;
  };
  /** Replace the secret of a webhook. Until the overlap ends, deliveries are signed with the previous secret too. */
  rotateWebhookSecret: {
    input: {
      id: string;
      body?: {
        overlap_seconds?: number | undefined;
      };
    };
    answer: WebhookWithSecret;
  };
  /** Deliver an event named test to a webhook. Its `data` is empty. The delivery is repeated like any other if it fails. */
  testWebhook: {
    input: { id: string };
    answer: WebhookDelivery;
  };
  /** List deliveries of a webhook with every attempt, newest first. The newest 10,000 that match; `start_time` and `end_time` lead to others. */
  listWebhookDeliveries: {
    input: {
      id: string;
      query?: {
        /** Page of the list, from 1. */
        page?: number | undefined;
        /** Items on a page. */
        per_page?: number | undefined;
        state?: "waiting" | "delivered" | "failed" | undefined;
        event?: string | undefined;
        flow_id?: string | undefined;
        start_time?: string | undefined;
        end_time?: string | undefined;
      };
    };
    answer: { items: WebhookDelivery[]; total: number };
  };
  /** Get a delivery with every attempt and its data. */
  getWebhookDelivery: {
    input: { id: string; delivery_id: string };
    answer: WebhookDeliveryWithData;
  };
  /** Deliver an event again. Under a new id of the delivery, and with the same `webhook-id`. */
  replayWebhookDelivery: {
    input: { id: string; delivery_id: string };
    answer: WebhookDelivery;
  };
  /** Deliver the events of a time range or of a flow again. Each event once, the oldest 10000 at most. Events are left out while a delivery of them waits. */
  replayWebhookDeliveries: {
    input: {
      id: string;
      body: {
        flow_id?: string | undefined;
        /** Deliveries created at or after it. */
        start_time?: string | undefined;
        /** Deliveries created before it. */
        end_time?: string | undefined;
        /** Default: both. */
        state?: "delivered" | "failed" | undefined;
      };
    };
    answer: {
      deliveries: number;
    };
  };
}

/** Method and path of each operation, and whether it answers with a page of a list. */
export const operations = {
  listUsers: ["GET", "/admin/users", true],
  createUser: ["POST", "/admin/users"],
  exportUsers: ["GET", "/admin/users/export"],
  actOnUsers: ["POST", "/admin/users/bulk"],
  getUser: ["GET", "/admin/users/{id}"],
  updateUser: ["PATCH", "/admin/users/{id}"],
  deleteUser: ["DELETE", "/admin/users/{id}"],
  listUserLoginMethods: ["GET", "/admin/users/{id}/login_methods"],
  previewUserDeletion: ["GET", "/admin/users/{id}/deletion"],
  offerUserRecovery: ["POST", "/admin/users/{id}/recovery"],
  blockUser: ["POST", "/admin/users/{id}/block"],
  unblockUser: ["POST", "/admin/users/{id}/unblock"],
  getUserTimeline: ["GET", "/admin/users/{id}/timeline"],
  listUserEmails: ["GET", "/admin/users/{id}/emails"],
  createUserEmail: ["POST", "/admin/users/{id}/emails"],
  getUserEmail: ["GET", "/admin/users/{id}/emails/{email_id}"],
  deleteUserEmail: ["DELETE", "/admin/users/{id}/emails/{email_id}"],
  setPrimaryUserEmail: ["POST", "/admin/users/{id}/emails/{email_id}/set_primary"],
  verifyUserEmail: ["POST", "/admin/users/{id}/emails/{email_id}/verify"],
  getUsername: ["GET", "/admin/users/{id}/username"],
  setUsername: ["PUT", "/admin/users/{id}/username"],
  deleteUsername: ["DELETE", "/admin/users/{id}/username"],
  getPhoneNumber: ["GET", "/admin/users/{id}/phone_number"],
  setPhoneNumber: ["PUT", "/admin/users/{id}/phone_number"],
  deletePhoneNumber: ["DELETE", "/admin/users/{id}/phone_number"],
  getUserMetadata: ["GET", "/admin/users/{id}/metadata"],
  patchUserMetadata: ["PATCH", "/admin/users/{id}/metadata"],
  listUserCredentials: ["GET", "/admin/users/{id}/webauthn_credentials"],
  getUserCredential: ["GET", "/admin/users/{id}/webauthn_credentials/{credential_id}"],
  renameUserCredential: ["PATCH", "/admin/users/{id}/webauthn_credentials/{credential_id}"],
  deleteUserCredential: ["DELETE", "/admin/users/{id}/webauthn_credentials/{credential_id}"],
  listUserIdentities: ["GET", "/admin/users/{id}/identities"],
  deleteUserIdentity: ["DELETE", "/admin/users/{id}/identities/{identity_id}"],
  getUserPassword: ["GET", "/admin/users/{id}/password"],
  createUserPassword: ["POST", "/admin/users/{id}/password"],
  updateUserPassword: ["PUT", "/admin/users/{id}/password"],
  deleteUserPassword: ["DELETE", "/admin/users/{id}/password"],
  getUserOtp: ["GET", "/admin/users/{id}/otp"],
  deleteUserOtp: ["DELETE", "/admin/users/{id}/otp"],
  countUserRecoveryCodes: ["GET", "/admin/users/{id}/recovery_codes"],
  replaceUserRecoveryCodes: ["POST", "/admin/users/{id}/recovery_codes"],
  deleteUserRecoveryCodes: ["DELETE", "/admin/users/{id}/recovery_codes"],
  listUserTrustedBrowsers: ["GET", "/admin/users/{id}/trusted_browsers"],
  deleteUserTrustedBrowsers: ["DELETE", "/admin/users/{id}/trusted_browsers"],
  deleteUserTrustedBrowser: ["DELETE", "/admin/users/{id}/trusted_browsers/{browser_id}"],
  listUserPhones: ["GET", "/admin/users/{id}/phones"],
  deleteUserPhone: ["DELETE", "/admin/users/{id}/phones/{phone_id}"],
  listUserApplications: ["GET", "/admin/users/{id}/applications", true],
  endUserApplication: ["DELETE", "/admin/users/{id}/applications/{client_id}"],
  listConsoleRoles: ["GET", "/admin/console/roles"],
  setConsoleRole: ["PUT", "/admin/users/{id}/console_role"],
  deleteConsoleRole: ["DELETE", "/admin/users/{id}/console_role"],
  beginImport: ["POST", "/admin/imports"],
  listImports: ["GET", "/admin/imports", true],
  getImport: ["GET", "/admin/imports/{id}"],
  cancelImport: ["DELETE", "/admin/imports/{id}"],
  putImportPiece: ["PUT", "/admin/imports/{id}/pieces/{number}"],
  startImport: ["POST", "/admin/imports/{id}/start"],
  listImportRefusals: ["GET", "/admin/imports/{id}/refusals"],
  listRefusedRecords: ["GET", "/admin/imports/{id}/refused_records", true],
  createSession: ["POST", "/admin/sessions"],
  impersonateUser: ["POST", "/admin/users/{id}/impersonations"],
  listUserSessions: ["GET", "/admin/users/{id}/sessions"],
  endUserSessions: ["DELETE", "/admin/users/{id}/sessions"],
  endUserSession: ["DELETE", "/admin/users/{id}/sessions/{session_id}"],
  listAuditLogs: ["GET", "/admin/audit_logs", true],
  findFailedSignIns: ["GET", "/admin/failed_sign_ins"],
  exportAuditLogs: ["GET", "/admin/audit_logs/export"],
  listFlows: ["GET", "/admin/flows", true],
  getFlow: ["GET", "/admin/flows/{id}"],
  exportFlow: ["GET", "/admin/flows/{id}/bundle"],
  replayFlow: ["POST", "/admin/flows/{id}/replay"],
  listTenants: ["GET", "/admin/tenants", true],
  createTenant: ["POST", "/admin/tenants"],
  getTenant: ["GET", "/admin/tenants/{id}"],
  changeTenant: ["PATCH", "/admin/tenants/{id}"],
  deleteTenant: ["DELETE", "/admin/tenants/{id}"],
  getOwnTenant: ["GET", "/admin/tenant"],
  changeOwnTenant: ["PATCH", "/admin/tenant"],
  listSettingsOfTenant: ["GET", "/admin/tenants/{id}/settings"],
  checkSettingsOfTenant: ["POST", "/admin/tenants/{id}/settings/check"],
  dryRunSettingsOfTenant: ["POST", "/admin/tenants/{id}/dry_run"],
  exportDryRunOfTenant: ["POST", "/admin/tenants/{id}/dry_run/users"],
  listSettingsHistoryOfTenant: ["GET", "/admin/tenants/{id}/settings_history", true],
  restoreSettingsOfTenant: ["POST", "/admin/tenants/{id}/settings_history/{version_id}/restore"],
  listSettings: ["GET", "/admin/tenant/settings"],
  checkSettings: ["POST", "/admin/tenant/settings/check"],
  dryRunSettings: ["POST", "/admin/tenant/dry_run"],
  exportDryRun: ["POST", "/admin/tenant/dry_run/users"],
  listSettingsHistory: ["GET", "/admin/tenant/settings_history", true],
  restoreSettings: ["POST", "/admin/tenant/settings_history/{version_id}/restore"],
  checkSamlProviderOfTenant: ["POST", "/admin/tenants/{id}/saml/provider_check"],
  listSamlProvidersOfTenant: ["GET", "/admin/tenants/{id}/saml/providers"],
  createSamlProviderOfTenant: ["POST", "/admin/tenants/{id}/saml/providers"],
  getSamlProviderOfTenant: ["GET", "/admin/tenants/{id}/saml/providers/{provider_id}"],
  replaceSamlProviderOfTenant: ["PUT", "/admin/tenants/{id}/saml/providers/{provider_id}"],
  changeSamlProviderOfTenant: ["PATCH", "/admin/tenants/{id}/saml/providers/{provider_id}"],
  deleteSamlProviderOfTenant: ["DELETE", "/admin/tenants/{id}/saml/providers/{provider_id}"],
  checkSamlProvider: ["POST", "/admin/saml/provider_check"],
  listSamlProviders: ["GET", "/admin/saml/providers"],
  createSamlProvider: ["POST", "/admin/saml/providers"],
  getSamlProvider: ["GET", "/admin/saml/providers/{provider_id}"],
  replaceSamlProvider: ["PUT", "/admin/saml/providers/{provider_id}"],
  changeSamlProvider: ["PATCH", "/admin/saml/providers/{provider_id}"],
  deleteSamlProvider: ["DELETE", "/admin/saml/providers/{provider_id}"],
  checkOAuthProviderOfTenant: ["POST", "/admin/tenants/{id}/oauth/provider_check"],
  listOAuthProvidersOfTenant: ["GET", "/admin/tenants/{id}/oauth/providers"],
  createOAuthProviderOfTenant: ["POST", "/admin/tenants/{id}/oauth/providers"],
  getOAuthProviderOfTenant: ["GET", "/admin/tenants/{id}/oauth/providers/{provider_id}"],
  changeOAuthProviderOfTenant: ["PATCH", "/admin/tenants/{id}/oauth/providers/{provider_id}"],
  deleteOAuthProviderOfTenant: ["DELETE", "/admin/tenants/{id}/oauth/providers/{provider_id}"],
  checkOAuthProvider: ["POST", "/admin/oauth/provider_check"],
  listOAuthProviders: ["GET", "/admin/oauth/providers"],
  createOAuthProvider: ["POST", "/admin/oauth/providers"],
  getOAuthProvider: ["GET", "/admin/oauth/providers/{provider_id}"],
  changeOAuthProvider: ["PATCH", "/admin/oauth/providers/{provider_id}"],
  deleteOAuthProvider: ["DELETE", "/admin/oauth/providers/{provider_id}"],
  beginOAuthProviderTestOfTenant: ["POST", "/admin/tenants/{id}/oauth/providers/{provider_id}/test"],
  beginSamlProviderTestOfTenant: ["POST", "/admin/tenants/{id}/saml/providers/{provider_id}/test"],
  getProviderTestOfTenant: ["GET", "/admin/tenants/{id}/provider_tests/{test_id}"],
  beginOAuthProviderTest: ["POST", "/admin/oauth/providers/{provider_id}/test"],
  beginSamlProviderTest: ["POST", "/admin/saml/providers/{provider_id}/test"],
  getProviderTest: ["GET", "/admin/provider_tests/{test_id}"],
  listOpenidClientsOfTenant: ["GET", "/admin/tenants/{id}/openid/clients"],
  createOpenidClientOfTenant: ["POST", "/admin/tenants/{id}/openid/clients"],
  getOpenidClientOfTenant: ["GET", "/admin/tenants/{id}/openid/clients/{client_id}"],
  changeOpenidClientOfTenant: ["PATCH", "/admin/tenants/{id}/openid/clients/{client_id}"],
  deleteOpenidClientOfTenant: ["DELETE", "/admin/tenants/{id}/openid/clients/{client_id}"],
  renewOpenidClientSecretOfTenant: ["POST", "/admin/tenants/{id}/openid/clients/{client_id}/secret"],
  listOpenidClients: ["GET", "/admin/openid/clients"],
  createOpenidClient: ["POST", "/admin/openid/clients"],
  getOpenidClient: ["GET", "/admin/openid/clients/{client_id}"],
  changeOpenidClient: ["PATCH", "/admin/openid/clients/{client_id}"],
  deleteOpenidClient: ["DELETE", "/admin/openid/clients/{client_id}"],
  renewOpenidClientSecret: ["POST", "/admin/openid/clients/{client_id}/secret"],
  listOpenidClientGrantsOfTenant: ["GET", "/admin/tenants/{id}/openid/clients/{client_id}/grants", true],
  listUnlistedOpenidClientsOfTenant: ["GET", "/admin/tenants/{id}/openid/unlisted_clients", true],
  listOpenidClientGrants: ["GET", "/admin/openid/clients/{client_id}/grants", true],
  listUnlistedOpenidClients: ["GET", "/admin/openid/unlisted_clients", true],
  listApiKeys: ["GET", "/admin/api_keys"],
  createApiKey: ["POST", "/admin/api_keys"],
  deleteApiKey: ["DELETE", "/admin/api_keys/{id}"],
  listSigningKeysOfTenant: ["GET", "/admin/tenants/{id}/signing_keys"],
  rotateSigningKeyOfTenant: ["POST", "/admin/tenants/{id}/signing_keys"],
  listSigningKeys: ["GET", "/admin/signing_keys"],
  rotateSigningKey: ["POST", "/admin/signing_keys"],
  getSecretKeys: ["GET", "/admin/secret_keys"],
  beginReseal: ["POST", "/admin/reseals"],
  listReseals: ["GET", "/admin/reseals", true],
  getReseal: ["GET", "/admin/reseals/{id}"],
  cancelReseal: ["DELETE", "/admin/reseals/{id}"],
  listMessages: ["GET", "/admin/messages", true],
  listTexts: ["GET", "/admin/texts"],
  listPagePreviews: ["GET", "/admin/pages/previews"],
  previewPages: ["POST", "/admin/pages/previews"],
  previewMessages: ["POST", "/admin/messages/previews"],
  getStatistics: ["GET", "/admin/statistics"],
  getOverview: ["GET", "/admin/overview"],
  getFunnel: ["GET", "/admin/funnel"],
  getFunnelSeries: ["GET", "/admin/funnel/series"],
  listWebhooks: ["GET", "/admin/webhooks"],
  createWebhook: ["POST", "/admin/webhooks"],
  getWebhook: ["GET", "/admin/webhooks/{id}"],
  updateWebhook: ["PUT", "/admin/webhooks/{id}"],
  deleteWebhook: ["DELETE", "/admin/webhooks/{id}"],
  rotateWebhookSecret: ["POST", "/admin/webhooks/{id}/rotate_secret"],
  testWebhook: ["POST", "/admin/webhooks/{id}/test"],
  listWebhookDeliveries: ["GET", "/admin/webhooks/{id}/deliveries", true],
  getWebhookDelivery: ["GET", "/admin/webhooks/{id}/deliveries/{delivery_id}"],
  replayWebhookDelivery: ["POST", "/admin/webhooks/{id}/deliveries/{delivery_id}/replay"],
  replayWebhookDeliveries: ["POST", "/admin/webhooks/{id}/replay"],
} as const satisfies Record<keyof AdminOperations, readonly [method: string, path: string, paged?: true]>;

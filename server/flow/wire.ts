/** Message shapes of the flow protocol, the same on every interface. */

export interface FlowState {
  name: string;
  /** Equals the HTTP status. */
  status: number;
  payload: Record<string, unknown>;
  csrf_token: string;
  actions: Record<string, ActionDescriptor>;
  error?: FlowError;
  links: FlowLink[] | null;
}

/** Members of the payload that published clients ignore, in every state that follows an identifier. */
export interface IdentityPayload {
  /** The identifier as it was typed; when the owner authenticates again, the owner's. Absent where none was typed. */
  identifier?: string;
  /**
   * How this browser signed in to the account last: `password`, `passcode`, `passkey` or the id of an identity provider.
   * Only where the sealed mark of the browser names the account.
   */
  last_method?: string;
}

/** The member `impersonation` of the payload, in flows of a session in which an operator acts as its user. */
export interface ImpersonationPayload {
  /** The operator: the primary address or the username. */
  name: string;
  /** When the session ends at the latest, RFC 3339. */
  until: string;
  reason: string;
}

/** A member of the payload that published clients ignore, in `thirdparty` with the error `user_conflict`. */
export interface TakenAddressPayload {
  /** The address that the provider gave and that an account here has, if that account signs in with it. */
  taken_address?: string;
}

/** The member `authorization` of the payload of `consent`: who asks a user for what. */
export interface AuthorizationPayload {
  client: {
    id: string;
    name: string;
    /** The home page, and addresses of what the client says about users' data. */
    uri?: string;
    policy_uri?: string;
    tos_uri?: string;
    /** The operator has listed it, or it describes itself: by a document at the address that is its id, or by registering. */
    origin: "listed" | "document" | "registration";
  };
  /** The host that the user goes on to; empty for a program on the user's device. */
  host: string;
  /** What is asked about the user; `openid` is the user's identifier alone. */
  scopes: string[];
  /** What the operator's own scopes among them let the client know, in plain words by scope and language, as far as it is set. */
  texts?: Record<string, Record<string, string>>;
  /**
   * What the client would do at APIs, by their resource indicator (RFC 8707); the name of each, and what its scopes allow in
   * plain words by scope and language, as far as the operator has set them.
   */
  resources: {
    address: string;
    scopes: string[];
    name?: string;
    texts?: Record<string, Record<string, string>>;
  }[];
  /** Those of `scopes` and others that the user has allowed the client before. */
  allowed: string[];
  /** Seconds after which it has to be asked for again; absent: never. */
  lifetime?: number;
  /** A device without a browser that asks (RFC 8628): what it shows its user, and where it is, as far as that is known. */
  device?: {
    code: string;
    user_agent?: string | undefined;
    ip_address?: string | undefined;
    location?:
      | { country?: string | undefined; region?: string | undefined; city?: string | undefined }
      | undefined;
  };
}

export interface ActionDescriptor {
  action: string;
  /** Relative to the base address, for instance `/login?action=back%40<flow id>`. */
  href: string;
  description: string;
  /** The action that this one is another name of, for clients that know only this name. */
  alias_of?: string;
  inputs: Record<string, InputDescriptor>;
}

/** What an account may be identified by at a sign-in. */
export type IdentifierKind = "email" | "username" | "phone";

export interface InputDescriptor {
  name: string;
  type: "string" | "boolean" | "email" | "tel" | "number" | "password" | "json";
  required?: boolean;
  hidden?: boolean;
  min_length?: number;
  max_length?: number;
  /** The kinds of identifier that are accepted; absent without phone numbers. */
  accepts?: readonly IdentifierKind[];
  /** Characters of a one-time code; digits if absent. */
  charset?: "alphanumeric" | undefined;
  value?: unknown;
  allowed_values?: { name: string; value: string | number | boolean }[];
  error?: FlowError;
}

export interface FlowError {
  code: string;
  /** The precise code, for our page: `code` may be one that published clients know in its place. */
  detail_code?: string;
  message: string;
  cause?: string;
}

export interface FlowLink {
  name: string;
  href: string;
  category: "legal" | "oauth" | "other";
  target: "_self" | "_blank" | "_parent" | "_top";
}

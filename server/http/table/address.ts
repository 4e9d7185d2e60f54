import type { z } from "zod";
import type { ConsoleRole } from "../../identity/console-roles.ts";
import type { Handler, HandlerContext, HandlerResult } from "./handler-context.ts";

/**
 * The body of an error, which also tells the interface apart: a flow state, `{code, message}` (`admin` too), the error of OAuth
 * (RFC 6749, 5.2), or the body of one of the two server-to-server interfaces.
 */
export type ErrorShape = "flow" | "plain" | "passkeys" | "authenticator" | "admin" | "oauth";

/**
 * Which requests reach the handler: all; those of our own pages; those and the pages of `cors.allow_origins`; or, in
 * development, those of this machine. The handler of a public address checks the origin itself where that matters.
 */
export type Access = "public" | "same-origin" | "listed-origin" | "local-development";

/** One method of one path. */
export interface Address {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** A segment in braces matches any segment, and is passed to the handler under that name in `params`. */
  path: string;
  handler: Handler;
  /** The shape of errors that are sent before the handler runs. */
  errorShape: ErrorShape;
  access: Access;
  /** What `/openapi.json` says of it. */
  operation?: Operation;
  /** Answers a call whose input was read elsewhere, by the schemas of the operation. Who may call is judged before. */
  call?(context: HandlerContext, input: CallInput): HandlerResult;
}

/** The input of a call: values as JSON has them. */
export interface CallInput {
  params: Record<string, unknown>;
  query: unknown;
  body: unknown;
}

/** Groups of operations in the document, in its order. */
export const tags = {
  flow: "Flows: login, registration, profile and token exchange.",
  sessions: "Sessions and the account of the session.",
  providers: "Third-party sign-in and SAML.",
  openid: "The OpenID provider.",
  keys: "Public keys and discovery.",
  passkeys: "The passkey server, with transactions.",
  authenticator: "Authenticator requests and devices.",
  "admin: users": "Administration of users and of what belongs to them.",
  "admin: sessions": "Administration of sessions.",
  "admin: webhooks": "Administration of webhooks and of their deliveries.",
  events: "What is delivered to webhooks.",
  "admin: tenants": "Administration of tenants, identity providers and API keys.",
  "admin: audit log": "The audit log and statistics.",
  page: "What our own pages call.",
  console: "What the pages of the console call.",
  service: "Health, jobs and this document.",
} as const;

export type Tag = keyof typeof tags;

/**
 * The credential of an operation: none, the session, or the API key of an interface. `optional-session` is read where it
 * is presented, `device` is also the token of an authenticator or a page.
 */
export type Security =
  | "none"
  | "session"
  | "optional-session"
  | "admin"
  | "passkeys"
  | "authenticator"
  | "device"
  | "jobs"
  | "optional-passkeys";

/** One answer of an operation. */
export interface Answer {
  description?: string;
  /** The body; none without it. */
  schema?: z.ZodType;
  /** Default: `application/json`. */
  mediaType?: string;
  /** Headers that the answer has, or may have, with what they say. */
  headers?: Record<string, string>;
}

/** What is known of an address beside its handler. `/openapi.json` is derived from it. */
export interface Operation {
  /** Unique, camel case: the name of the call in generated clients. */
  id: string;
  /** One line without a full stop. */
  summary: string;
  description?: string;
  tag: Tag;
  security: Security;
  /** The least role of the console that may call it; only for operations of the administration interface. */
  role?: ConsoleRole;
  /** The least role at the default tenant, where it would lead to the accounts of operators or the network of the server. */
  roleAtDefaultTenant?: ConsoleRole;
  /** For API keys alone: what it gives would not say which account of the console has asked for it. */
  keysOnly?: true;
  /** A POST that only reads: a read to the console, which needs the role `auditor`. */
  changesNothing?: true;
  /** It reads many rows and changes nothing: `database.replicas` may serve it. */
  fromReplica?: true;
  /** The ids of users whose accounts a call changes, as the caller sent them. Default: `id` of a path below `/admin/users/{id}`. */
  concerns?(input: CallInput): unknown[];
  /** The id of the address that a call marks as verified, as the caller sent it: the configuration may give it a role. */
  verifies?(input: CallInput): unknown;
  params?: z.ZodObject;
  query?: z.ZodObject;
  body?: z.ZodType;
  /** Default: `application/json`. */
  bodyType?: string;
  /** Whether the body may be left out. */
  bodyOptional?: boolean;
  /** Headers that the operation reads, beside those of its credential. */
  headers?: z.ZodObject;
  /** Answers by status. A text describes an answer without a body below 400, and an error in the shape of the address from 400 on. */
  answers: Record<number, Answer | string>;
}

/** Every method of one path. */
export interface Route {
  path: string;
  methods: ReadonlyMap<string, Address>;
  errorShape: ErrorShape;
}

/** One row of the table in `addresses.ts`. */
export function address(
  method: Address["method"],
  path: string,
  handler: Handler,
  errorShape: ErrorShape,
  access: Access,
): Address {
  return { method, path, handler, errorShape, access };
}

import { type Connection, type ConnectionOptions, connect } from "./connection.ts";
import { StileError } from "./error.ts";
import { type AdminOperations, operations } from "./interface.ts";
import { type ProtectedResource, protectResource, type ResourceOptions } from "./resource.ts";
import {
  type EndedSession,
  endSession,
  type IncomingRequest,
  type VerifiedSession,
  verifySession,
} from "./session.ts";
import { type Delivery, type VerifiedWebhook, verifyWebhook } from "./webhook.ts";

export type { ConnectionOptions } from "./connection.ts";
export { StileError } from "./error.ts";
export type * from "./interface.ts";
export type {
  Access,
  AccessNeeds,
  ProtectedResource,
  Refusal,
  ResourceMetadata,
  ResourceOptions,
  VerifiedAccess,
} from "./resource.ts";
export type { EndedSession, Session, VerifiedSession } from "./session.ts";
export type { VerifiedWebhook, WebhookEvent } from "./webhook.ts";

export interface StileOptions extends ConnectionOptions {
  /** Name of the session cookie (`session.cookie.name`); default: `service`. */
  cookieName?: string;
  /** The secrets of webhooks: one, or both during a rotation. Null for a webhook without a secret. */
  webhookSecret?: string | readonly string[] | null;
}

/** The administration interface: a method for each operation, by its id in `/openapi.json`. */
export type Admin = {
  [Id in keyof AdminOperations]: AdminOperations[Id] extends { input: infer Input; answer: infer Answer }
    ? Record<never, never> extends Input
      ? (input?: Input) => Promise<Answer>
      : (input: Input) => Promise<Answer>
    : never;
};

/** A client of one tenant, for servers of applications. */
export interface Stile {
  /**
   * Verifies the session of a request (bearer token or cookie), or a session token.
   *
   * @param options `tokenOnly`: the service is not asked, so a session that was ended stays valid until its token expires
   * @throws StileError if the service does not answer
   */
  verifySession(
    presented: IncomingRequest | string | null | undefined,
    options?: { tokenOnly?: boolean },
  ): Promise<VerifiedSession>;
  /**
   * Ends the session of a request (bearer token or cookie), or of a session token, at the service (`POST /logout`). The
   * application removes its own cookie. One that has ended already, and none at all, are no error.
   *
   * @param options `redirectTo`: the address of the application that the browser returns to from the sign-out at the identity
   *   provider, one of `third_party.allowed_redirect_urls`
   * @throws StileError if the service does not answer
   */
  endSession(
    presented: IncomingRequest | string | null | undefined,
    options?: { redirectTo?: string | undefined },
  ): Promise<EndedSession>;
  /**
   * Exchanges the code that the hosted page has sent, once, for the session of the user (`POST /token`).
   *
   * @param codeVerifier of which the application sent the challenge (RFC 7636)
   * @throws StileError with status 400 for a code that is not valid
   */
  redeemCode(
    code: string,
    codeVerifier: string,
    options?: { redirectTo?: string },
  ): Promise<{ token: string; userId: string; expiresAt: Date }>;
  /**
   * Verifies a delivery to a webhook: signature, time, token and event.
   *
   * @param delivery the request, unread, or headers and unparsed body
   * @throws StileError if the keys cannot be read
   */
  verifyWebhook(
    delivery: Delivery,
    options?: { secret?: string | readonly string[] | null },
  ): Promise<VerifiedWebhook>;
  /**
   * Protects an API, or an MCP server, by access tokens of the service: verifies them (RFC 9068), and describes the API to
   * clients (RFC 9728).
   *
   * @throws StileError if `resource` or `metadataUrl` is not an absolute address without a fragment
   */
  protectResource(options: ResourceOptions): ProtectedResource;
  /** Needs `apiKey`. Throws StileError for an answer that is no success. */
  admin: Admin;
}

/** Creates a client. One is enough for a process: it keeps the keys of the service. */
export function createStile(options: StileOptions): Stile {
  const connection = connect(options);
  const { cookieName = "service", webhookSecret } = options;
  return {
    verifySession: (presented, { tokenOnly = false } = {}) =>
      verifySession(connection, presented, { tokenOnly, cookieName }),
    endSession: (presented, { redirectTo } = {}) =>
      endSession(connection, presented, { cookieName, redirectTo }),
    redeemCode: (code, codeVerifier, { redirectTo } = {}) =>
      redeemCode(connection, {
        code,
        code_verifier: codeVerifier,
        ...(redirectTo === undefined ? {} : { redirect_to: redirectTo }),
      }),
    async verifyWebhook(delivery, { secret = webhookSecret } = {}) {
      if (secret === undefined)
        throw new StileError("`webhookSecret` is needed; null for a webhook without one.");
      return verifyWebhook(connection, delivery, typeof secret === "string" ? [secret] : secret);
    },
    protectResource: (resource) => protectResource(connection, resource),
    admin: adminOf(connection),
  };
}

async function redeemCode({ send }: Connection, body: Record<string, string>) {
  const { body: answer } = await send("POST", "/token", { body });
  const { session_token, user_id, expiration_time } = (answer ?? {}) as Record<string, string>;
  if (!session_token || !user_id || !expiration_time)
    throw new StileError("Stile answers in an unknown form.");
  return { token: session_token, userId: user_id, expiresAt: new Date(expiration_time) };
}

function adminOf({ call }: Connection): Admin {
  const names = Object.keys(operations) as (keyof typeof operations)[];
  const methods = names.map((name) => [name, (input: Record<string, unknown> = {}) => call(name, input)]);
  return Object.fromEntries(methods) as Admin;
}

import { getTableColumns } from "drizzle-orm";
import { schema } from "#db/client";

const { sessions } = schema;

/** A session as issued to a browser or an application's server. */
export interface IssuedSession {
  id: string;
  /** The signed JWT: value of the cookie, or of `X-Auth-Token`. */
  token: string;
  /** Seconds until it expires: `X-Session-Lifetime`, and `Max-Age` of a persistent cookie. */
  lifetimeSeconds: number;
  /** Whether the cookie outlives the browser: `X-Session-Retention`. */
  retention: "session" | "persistent";
  expiresAt: Date;
  /** Whether a browser has registered a key for it. */
  isBound: boolean;
  /** Whether an operator acts in it: it is bound to no device. */
  isImpersonated: boolean;
}

const { tenantId: _tenant, ...columns } = getTableColumns(sessions);

/** Columns of a session, without its tenant. */
export const sessionColumns = columns;

/** A row of `sessions`, without its tenant. */
export type Session = Omit<typeof sessions.$inferSelect, "tenantId">;

/**
 * Whether an administrator created a session. Such a session counts as authenticated at the beginning of time, because
 * its user has proved nothing; a user who authenticates gets another one.
 */
export function isMadeByOperator({ authenticatedAt }: Pick<Session, "authenticatedAt">): boolean {
  return authenticatedAt.getTime() === NEVER_AUTHENTICATED.getTime();
}

/** The time of authentication of a session whose user has proved nothing. */
export const NEVER_AUTHENTICATED = new Date(0);

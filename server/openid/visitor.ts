import { AsyncLocalStorage } from "node:async_hooks";
import type { Session } from "../objects/session.ts";
import type { ExchangedToken } from "./exchanged-token.ts";
import type { ReadAhead } from "./read-ahead.ts";
import type { Redemption } from "./redemption.ts";

/** What a client presents for new tokens. */
export interface PresentedToken {
  kind: "authorization_code" | "device_code" | "refresh_token";
  clientId: string;
  userId: string;
}

/** The browser whose request the provider answers. */
export interface Visitor {
  /** The session that it is signed in with; null without one. Calls of applications have none. */
  session: Session | null;
  /** What is stored of the session for its clients, as it was read: JSON, by client. */
  kept?: ReadonlyMap<string, string>;
  /** The document of a client that is being read. */
  documentAddress?: string;
  /** The code or refresh token that is presented. */
  presented?: PresentedToken;
  /** What was read together with it, or with the session. */
  readAhead?: ReadAhead;
  /**
   * What the call redeems, written at its end; null before it redeems something. Absent where it is written at once.
   */
  redemption?: Redemption | null;
  /** Whether it was used before: everything of its grant has ended. */
  isReused?: boolean;
  /** What an exchange of a token gives. */
  exchanged?: ExchangedToken;
  /** Whether a client has not authenticated, or a public one has presented no valid code or token. */
  isClientFailure?: boolean;
  /** Why the library could not answer, such as a database that is away. */
  failure?: unknown;
}

const visitors = new AsyncLocalStorage<Visitor>();

/** Answers a request of a visitor: what the library asks meanwhile of sessions is asked of this one. */
export function answeredFor<Answer>(visitor: Visitor, answer: () => Promise<Answer>): Promise<Answer> {
  return visitors.run(visitor, answer);
}

/** The session of the browser, or that a presented code or token ends with; null where there is none, or it has ended. */
export function presentSession(): Session | null {
  const { session, readAhead } = presentVisitor();
  return session ?? readAhead?.session?.live ?? null;
}

/** The visitor of the request that is being answered. */
export function presentVisitor(): Visitor {
  return visitors.getStore() ?? { session: null };
}

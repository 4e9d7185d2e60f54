import type { Session } from "../objects/session.ts";
import type { ExchangedToken } from "./exchanged-token.ts";
import type { ReadAhead } from "./read-ahead.ts";
import type { PresentedToken } from "./visitor.ts";

/** A request to the provider: its address is below that of the tenant. */
export interface ProviderRequest {
  method: string;
  /** Path and query. */
  address: string;
  /** Names in lower case. */
  headers: Record<string, string>;
  body: Uint8Array;
  /** Address of the client. */
  ip: string;
  /** The session of the browser; null for an application, or without one. */
  session: Session | null;
  /** What was read together with it. */
  ahead?: ReadAhead | undefined;
}

export interface ProviderAnswer {
  status: number;
  /** Names in lower case, without `set-cookie`. */
  headers: Record<string, string>;
  cookies: string[];
  body: string;
  /** Whether the client has not authenticated, or is a public one without a valid code or token. */
  isClientFailure: boolean;
  /** A code or refresh token that was presented a second time. */
  reused: PresentedToken | null;
  /** What was given for the token of another client. */
  exchanged: ExchangedToken | null;
}

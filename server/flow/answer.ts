import type { CookieChanges } from "../client.ts";
import type { IssuedSession } from "../sessions/session.ts";
import type { FlowState } from "./wire.ts";

/** The engine's answer to any request; a rejected request is answered by a state with an error. */
export interface Answer {
  state: FlowState;
  /** Of the state shown; 0 where none is. */
  version: number;
  flowId: string | null;
  /** The flow's resume secret; returned once, by `start`. */
  resume?: string;
  session?: IssuedSession;
  cookieChanges?: CookieChanges;
}

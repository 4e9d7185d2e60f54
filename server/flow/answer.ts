import type { CookieChanges } from "../context/client.ts";
import type { IssuedSession } from "../objects/session.ts";
import type { FlowData } from "./data.ts";
import type { NotOffered } from "./observed-step.ts";
import { showError } from "./show.ts";
import type { FlowState } from "./wire.ts";

/** The engine's answer to any request; a rejected request is answered by a state with an error. */
export interface Answer {
  state: FlowState;
  /** Version of the flow; 0 without a flow. */
  version: number;
  flowId: string | null;
  /** The flow's current resume secret, in every answer that shows a state of the flow. */
  resume?: string;
  session?: IssuedSession;
  cookieChanges?: CookieChanges;
  /** What observers of steps are told of the flow as it was stored. */
  stored?: { data: FlowData; notOffered: NotOffered };
  /** The unexpected error of an action that was to be performed after a reauthentication, which stands. */
  failure?: unknown;
}

export const notPermitted = () => errorAnswer(showError("operation_not_permitted_error"));
export const expired = () => errorAnswer(showError("flow_expired_error"));

/** The answer of a request that shows no state of a flow. */
export function errorAnswer(state: FlowState): Answer {
  return { state, version: 0, flowId: null };
}

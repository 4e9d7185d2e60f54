import type { FlowState } from "../../flow/wire.ts";

/** The answer of every call of a flow over tRPC. The flow's `csrf_token` stays in what is sealed. */
export interface PageAnswer {
  /** Version of the state; a step must name the newest. 0 is the first state of a flow that is not started. */
  version: number;
  state: FlowState;
  /** What a user tells an operator of the flow by, in two groups. For our own pages alone, where flows are recorded. */
  support_number?: string;
  /** Address that the browser goes to next. */
  redirect_to?: string;
  /**
   * For a page of another origin alone: the flow, which the page sends with its next call, in the header `X-Stile-Flow`.
   * An answer without it leaves the one before it valid.
   */
  flow_token?: string;
}

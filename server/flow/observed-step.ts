import type { Tenant } from "../config/tenant.ts";
import type { Embedding } from "../context/client.ts";
import type { Waits } from "../observability/waits.ts";
import type { FlowType, StateName } from "./names.ts";
import type { StepSkeleton } from "./step-skeleton.ts";

/**
 * What became of a step. `started`: the flow was started without an action; `rejected_input`: an input was malformed;
 * `error`: the action was rejected, and the state shows the reason; `refused`: it was not judged, because it is not offered,
 * its token is not the newest, or a budget is used up; `failed`: an unexpected error, and the flow is unchanged.
 */
export const verdicts = ["started", "performed", "rejected_input", "error", "refused", "failed"] as const;

export type Verdict = (typeof verdicts)[number];

/** The client of a step, in closed lists; null where it is not known. */
export interface ObservedClient {
  /** As `readUserAgent` names systems and browsers. */
  platform: string | null;
  browser: string | null;
  embedding: Embedding;
  /** What it has reported that it can do; null if it was not asked. */
  capabilities: Readonly<Record<string, boolean>> | null;
}

/** The names of reasons by what they are about. `reasons.ts` has their sentences. */
export type Reasons = Readonly<Record<string, readonly string[]>>;

/** Why the rest was not offered, as it was judged when the state was entered and shown. */
export interface NotOffered {
  /** The actions of the state that it does not offer. */
  actions: Reasons;
  /** The states that the plan has passed over on the way to it. */
  states: Reasons;
}

/** An input that a client has sent, without its value. */
export interface ObservedInput {
  name: string;
  kind: "string" | "number" | "boolean" | "array" | "object";
  /** Characters of a text, elements or members of the others; null for what has no length. */
  length: number | null;
}

/** A step that was answered. It has no value that a client sent, except names of the protocol. */
export interface ObservedStep {
  tenantId: string;
  flowId: string;
  type: FlowType;
  /** The state that the step was performed in; null for a start without an action, and where the flow was not read. */
  from: StateName | null;
  /** A name that a client sent and no state has is null, as is a start without an action. */
  action: string | null;
  verdict: Verdict;
  /** The state that the answer shows; `error` if it shows none of the flow. */
  to: StateName | "error";
  /** The precise code of the error: of an input before that of the request. */
  error: string | null;
  /** The codes of all inputs, if there are any; else `error`. */
  errors: readonly string[];
  /** Time of the step until it was answered. */
  milliseconds: number;
  /** What it has waited for within that time. */
  waits: Waits;
  /** Time since `from` was entered, by the database's clock; null if it is not known. */
  inStateMs: number | null;
  /** The time of the step by that clock, at which `to` was entered, in milliseconds since 1970. */
  at: number;
  /** Time from the start of the flow to that of the step; null if it is not known. */
  inFlowMs: number | null;
  /** The factor that the action tries to prove; null if it is no such try. */
  method: string | null;
  /** Why a try failed, as the audit log tells it; null where it tells nothing. */
  reason: string | null;
  /** The sign-in that the step has completed. */
  signIn: { methods: readonly string[]; isNewAccount: boolean } | null;
  client: ObservedClient;
  /** The network of the client. */
  source: string;
  requestId: string;
  /** The trace of the step; null if it is not recorded. */
  traceId: string | null;
  /** Those of the action; what it does not declare is left out, since it could have any name. */
  inputs: readonly ObservedInput[];
  /** The account that the flow is about after the step, as far as it is stored. */
  userId: string | null;
  /** Of the state that the answer shows; null if it shows none of the flow. */
  notOffered: NotOffered | null;
  /** What the step was decided by; null if nothing was judged. It is computed when it is asked for. */
  decidedBy: () => StepSkeleton | null;
  /** Whether the step has started the flow. */
  isStart: boolean;
  /** Whether the flow has ended with this step. */
  isEnd: boolean;
}

/** Told of each step once it was answered. It must return at once. */
export type StepObserver = (step: ObservedStep, tenant: Tenant) => void;

/** Observers of the steps of this process. */
export interface StepObservers {
  stepObservers: StepObserver[];
}

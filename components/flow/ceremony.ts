import type { FlowState } from "#server/flow/wire";
import type { IconName } from "../ui/icon.tsx";
import type { ProviderReturn } from "./provider-return.ts";

/** The result of a ceremony: an action and its input. */
export interface Step {
  action: string;
  input: Record<string, unknown>;
  /** Code of a notice to show with the next state. */
  notice?: string | undefined;
}

/** The inputs and controls of a ceremony beside its options. */
export interface CeremonyContext {
  state: FlowState;
  providerReturn: ProviderReturn | null;
  /** Whether the user's action on this page led to the state, or the user asked for the ceremony. */
  userInitiated: boolean;
  /** The automatic attempts of this page. */
  attempts: Attempts;
  /** The prefix of every address of this service: empty, or `/t/{tenant}`. */
  base: string;
  /** Navigates to another site. */
  leave(url: string): void;
  /** Requests the current state again because its payload has expired. */
  renew(): Promise<void>;
}

/**
 * Automatic attempts of this page. `silent`: a passkey is being created without a prompt; `tried`: that was
 * attempted, at most once. `submitted`: how often the answer at this status address was submitted.
 * `renewals`: authenticator requests renewed since the last user activity.
 */
export interface Attempts {
  silent: boolean;
  tried: boolean;
  submitted: { href: string; times: number } | null;
  renewals: number;
}

/** What decides whether a ceremony can begin. */
export type BeginContext = Pick<CeremonyContext, "state" | "providerReturn" | "attempts">;

/** A step of a state that only a script can perform. */
export interface Ceremony {
  /** The action that carries the result; it is not drawn. */
  action: string;
  /**
   * `blocking`: the page shows nothing else until it is done. `background`: the user can perform other actions,
   * which abort it.
   */
  mode: "blocking" | "background";
  /** How the page looks during a blocking ceremony. */
  waiting?: "outline" | "prompt";
  icon?: IconName;
  /** The payload member that the ceremony requires. */
  needs?: string;
  /** An action that asks the server for what the state has already: where no flow is started, the browser prompts instead. */
  replaces?: string;
  /** Failures are not shown. */
  automatic?: true;
  /** Whether the ceremony applies to the state. Default: yes. */
  canBegin?(context: BeginContext): boolean;
  /**
   * Performs the ceremony. Returns the next step, or null for none. Rejects on abort and when the user or the
   * browser declines.
   */
  perform(options: unknown, context: CeremonyContext, signal: AbortSignal): Promise<Step | null>;
}

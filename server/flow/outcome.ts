import type { Write } from "#db/write";
import type { CookieChanges } from "../context/client.ts";
import type { Job } from "../runtime.ts";
import type { DataPatch } from "./data.ts";
import type { ErrorCode } from "./errors.ts";
import type { Facts } from "./facts.ts";
import {
  BACK,
  NEXT,
  type REAUTHENTICATE,
  type reauthenticationStates,
  STAY,
  type StateName,
  type Target,
} from "./names.ts";

/** Changes of a step besides the flow's state. None is applied yet. */
export interface Effects {
  data?: DataPatch;
  /** Facts that the step's own writes change. */
  facts?: Partial<Facts>;
  writes?: Write[];
  jobs?: Job[];
  cookieChanges?: CookieChanges;
  /** Added to the payload of the next state. */
  payload?: Record<string, unknown>;
  /** Secret members of the payload, stored sealed. */
  secrets?: Record<string, unknown>;
  /** Members of the payload of this answer alone: never stored, so no later answer contains them. */
  once?: Record<string, unknown>;
  /** A state that was left out on the way: `back` leads to it, as if the user had passed it. */
  via?: StateName;
  /** The user has to reauthenticate for this action; it is performed after that. */
  proceedsAfterProof?: boolean;
}

/** Replaces REAUTHENTICATE by the states that it stands for. */
type Resolved<To extends Target> = To extends typeof REAUTHENTICATE
  ? (typeof reauthenticationStates)[number]
  : To;

export type Outcome<To extends Target = Target, Code extends ErrorCode = ErrorCode> =
  | {
      kind: "move";
      to: Resolved<To>;
      commits: boolean;
      /** Whether the state is entered again; `go`, `next` and `goBack` always enter. */
      enters: boolean;
      effects: Effects;
    }
  | {
      kind: "reject";
      code: Code;
      input?: string;
      message?: string;
      payload?: Record<string, unknown>;
      /** Whether the failed attempt consumed the state's challenge or code; `State.renews` says what follows. */
      renew: boolean;
      writes: Write[];
    };

/** Goes to a state, or to the first state of the plan; `back` returns. */
export function go<To extends StateName | typeof NEXT>(to: To, effects: Effects = {}): Outcome<To, never> {
  return { kind: "move", to: to as Resolved<To>, commits: false, enters: true, effects };
}

/** Commits: clears the history and goes to the first state of the plan. */
export function next(effects: Effects = {}): Outcome<typeof NEXT, never> {
  return { kind: "move", to: NEXT, commits: true, enters: true, effects };
}

/**
 * Stays in the state.
 *
 * @param details `enter`: false if the action itself prepared what `enter` prepares
 */
export function stay(effects: Effects = {}, { enter = true } = {}): Outcome<typeof STAY, never> {
  return { kind: "move", to: STAY, commits: false, enters: enter, effects };
}

/** Returns to the previous state and its data. */
export function goBack(): Outcome<typeof BACK, never> {
  return { kind: "move", to: BACK, commits: false, enters: true, effects: {} };
}

/**
 * Rejects the action with an error; the state stays.
 *
 * @param details `input`: the invalid input, for input errors; `payload`: added to the state's; `renew`: the
 *   state's challenge or code is consumed (see `State.renews`); `writes`: run although the action is rejected
 */
export function reject<Code extends ErrorCode>(
  code: Code,
  details: {
    input?: string;
    message?: string;
    payload?: Record<string, unknown>;
    renew?: boolean;
    writes?: Write[];
  } = {},
): Outcome<never, Code> {
  return { kind: "reject", code, ...details, renew: details.renew ?? false, writes: details.writes ?? [] };
}

/** Rejects an action because of a rate limit; `writes` run all the same. */
export function rateLimited(
  seconds: number,
  { writes = [] }: { writes?: Write[] } = {},
): Outcome<never, "rate_limit_exceeded"> {
  return reject("rate_limit_exceeded", { payload: retryPayload(seconds), writes });
}

/** Returns the payload of every 429; clients of the protocol read either name. */
export function retryPayload(seconds: number): Record<string, unknown> {
  return { resend_after: seconds, retry_after: seconds };
}

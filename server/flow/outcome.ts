import type { Write } from "#db/write";
import type { CookieChanges } from "../client.ts";
import type { Job } from "../runtime.ts";
import type { DataPatch } from "./data.ts";
import type { ErrorCode } from "./errors.ts";
import type { Facts } from "./facts.ts";
import { BACK, NEXT, type PROOF, type proofStates, STAY, type StateName, type Target } from "./names.ts";

/** What a step changes beside the flow's state. Nothing of it has happened yet. */
export interface Effects {
  data?: DataPatch;
  /** What the step's own writes will have made true of the person. */
  facts?: Partial<Facts>;
  writes?: Write[];
  jobs?: Job[];
  cookieChanges?: CookieChanges;
  /** Joins the payload of the state that is shown next. */
  payload?: Record<string, unknown>;
  /** The same for secrets, which rest sealed. */
  secrets?: Record<string, unknown>;
}

/** PROOF is short for any of its states. */
type Resolved<To extends Target> = To extends typeof PROOF ? (typeof proofStates)[number] : To;

export type Outcome<To extends Target = Target, Code extends ErrorCode = ErrorCode> =
  | {
      kind: "move";
      to: Resolved<To>;
      commits: boolean;
      /** Whether what the state shows is made anew; going anywhere always does that. */
      enters: boolean;
      effects: Effects;
    }
  | {
      kind: "refuse";
      code: Code;
      input?: string;
      message?: string;
      payload?: Record<string, unknown>;
      /** The refusal used up what entering the state had made, so it is made again. */
      renew: boolean;
      writes: Write[];
    };

/** To a state, or to the head of the plan, with a way back. */
export function go<To extends StateName | typeof NEXT>(to: To, effects: Effects = {}): Outcome<To, never> {
  return { kind: "move", to: to as Resolved<To>, commits: false, enters: true, effects };
}

/** Something was proved or written: no way back from here; on to the head of the plan. */
export function next(effects: Effects = {}): Outcome<typeof NEXT, never> {
  return { kind: "move", to: NEXT, commits: true, enters: true, effects };
}

/**
 * The same state once more.
 *
 * @param details `enter` false: the action itself has made what entering the state would ensure
 */
export function stay(effects: Effects = {}, { enter = true } = {}): Outcome<typeof STAY, never> {
  return { kind: "move", to: STAY, commits: false, enters: enter, effects };
}

/** The state before, and what the flow knew then. */
export function goBack(): Outcome<typeof BACK, never> {
  return { kind: "move", to: BACK, commits: false, enters: true, effects: {} };
}

/**
 * No. The state stays.
 *
 * @param details `input`: the input at fault, for input errors; `payload` joins the state's; `renew`: what entering
 *   the state had made is used up; `writes`: what is recorded of the refusal
 */
export function refuse<Code extends ErrorCode>(
  code: Code,
  details: {
    input?: string;
    message?: string;
    payload?: Record<string, unknown>;
    renew?: boolean;
    writes?: Write[];
  } = {},
): Outcome<never, Code> {
  return { kind: "refuse", code, ...details, renew: details.renew ?? false, writes: details.writes ?? [] };
}

/** A refusal for being too fast; `resend_after` and `retry_after` name the seconds to wait. */
export function rateLimited(seconds: number): Outcome<never, "rate_limit_exceeded"> {
  return refuse("rate_limit_exceeded", { payload: retryPayload(seconds) });
}

/** Payload of every 429: clients of the protocol read the one name or the other. */
export function retryPayload(seconds: number): Record<string, unknown> {
  return { resend_after: seconds, retry_after: seconds };
}

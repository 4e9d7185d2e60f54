import type { ErrorCode } from "../../flow/errors.ts";
import type { FlowType } from "../../flow/names.ts";
import { retryPayload } from "../../flow/outcome.ts";
import { showError } from "../../flow/show.ts";
import type { FlowState } from "../../flow/wire.ts";
import { withFilledInputs } from "./filled-inputs.ts";

/** An error that belongs to no state, and what its form held: carried over the redirect after a form was posted. */
export interface Notice {
  type: FlowType;
  code: ErrorCode;
  /** Seconds to wait. */
  seconds?: number;
  /** What was typed or ticked, by input, of inputs whose values may be shown again. */
  values: Record<string, string | boolean>;
}

/** Long enough for the redirect. */
export const NOTICE_SECONDS = 10;

/**
 * Describes a refused form.
 *
 * @param refused the error, which shows no state
 * @param shown the state with the form
 * @param input what it held
 */
export function noticeOf(
  type: FlowType,
  refused: FlowState,
  shown: FlowState,
  input: Record<string, unknown>,
): Notice | null {
  const { error, payload } = refused;
  if (!error) return null;
  const { retry_after: seconds } = payload;
  const values = Object.entries(input).filter(
    (entry): entry is [string, string | boolean] =>
      typeof entry[1] === "boolean" ||
      (typeof entry[1] === "string" &&
        inputsOf(shown).some(([name, own]) => name === entry[0] && "value" in own)),
  );
  return {
    type,
    code: error.code as ErrorCode,
    ...(typeof seconds === "number" ? { seconds } : {}),
    values: Object.fromEntries(values),
  };
}

/** The state with the error of a refused form, and what that form held. */
export function withNotice(state: FlowState, { code, seconds, values }: Notice): FlowState {
  const { status, error } = showError(code);
  return {
    ...withFilledInputs(state, values),
    status,
    payload: { ...state.payload, ...(seconds === undefined ? {} : retryPayload(seconds)) },
    ...(error ? { error } : {}),
  };
}

const inputsOf = ({ actions }: FlowState) =>
  Object.values(actions).flatMap(({ inputs }) => Object.entries(inputs));

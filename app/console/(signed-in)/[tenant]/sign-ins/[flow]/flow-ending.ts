import { duration } from "../../../../_parts/duration.ts";
import { errorText, spoken } from "../../../../_parts/protocol-name.ts";
import { words } from "../../../../_words.ts";
import type { Flow, Step } from "./flow-path.ts";

const { endings } = words.flow;

/** Says in one sentence or two how a flow has ended, and why. */
export function endingOf({ outcome, type, path, state, started_at, last_step_at }: Flow): string {
  const last = path.at(-1);
  if (!last) return endings.nothing;
  const took = duration(Date.parse(last_step_at) - Date.parse(started_at));
  const completed: Partial<Record<string, string>> = endings.completed;
  if (outcome === "completed") return endings.ended(completed[type] ?? endings.done, path.length, took);
  const shown = state === null ? endings.nothingShown : endings.shown(spoken(state));
  return outcome === "rejected" ? `${rejection(last)} ${shown}` : endings.waits(spoken(state ?? ""));
}

function rejection({ verdict, action, from, error, reason, inputs }: Step): string {
  const verdicts: Partial<Record<string, string>> = endings.verdicts;
  const what =
    action === null ? endings.start : endings.action(spoken(action), from === null ? null : spoken(from));
  const why = reason === null ? "" : ` ${words.flow.reason(reason.sentence)}`;
  const told = error === null ? "." : `: ${errorSentence(error, inputs)}`;
  return `${what} ${verdicts[verdict] ?? verdict}${told}${why}`;
}

/**
 * What a user is told of an error, and its code.
 *
 * @param inputs that were sent: an input may have a text of its own
 */
export function errorSentence(code: string, inputs: Step["inputs"]): string {
  const text = errorText(
    code,
    inputs.map(({ name }) => name),
  );
  return text === null ? `${code}.` : `“${text}” (${code}).`;
}
